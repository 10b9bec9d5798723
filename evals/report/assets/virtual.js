// A list of many rows, of which only those in sight are made. Rows have one height.
(function (app) {
  "use strict";

  const { el } = app.dom;
  const BEYOND = 8;

  /**
   * @param {function(number): HTMLElement} row Makes the row at a place.
   * @param {number} height Of a row in pixels.
   */
  function list(row, height) {
    const spread = el("div", { class: "spread" });
    const place = el("div", { class: "virtual", tabindex: "0", role: "list" }, spread);
    let count = 0;
    let shown = [-1, -1];
    let waiting = false;

    function draw() {
      waiting = false;
      const first = Math.max(0, Math.floor(place.scrollTop / height) - BEYOND);
      const last = Math.min(count, Math.ceil((place.scrollTop + place.clientHeight) / height) + BEYOND);
      if (first === shown[0] && last === shown[1]) return;
      shown = [first, last];
      const rows = [];
      for (let number = first; number < last; number += 1) {
        const made = row(number);
        made.style.top = `${number * height}px`;
        made.setAttribute("aria-setsize", count);
        made.setAttribute("aria-posinset", number + 1);
        rows.push(made);
      }
      spread.replaceChildren(...rows);
    }

    function soon() {
      if (!waiting) {
        waiting = true;
        requestAnimationFrame(draw);
      }
    }

    place.addEventListener("scroll", soon, { passive: true });
    new ResizeObserver(soon).observe(place);
    return {
      element: place,
      /** Show so many rows, from the first. */
      fill(rows) {
        count = rows;
        shown = [-1, -1];
        spread.style.height = `${rows * height}px`;
        place.scrollTop = 0;
        draw();
      },
    };
  }

  app.virtual = { list };
})(evalsReport);
