// A table of many rows, of which only those in sight are made. Rows have one height, and a click on a title sorts.
(function (app) {
  "use strict";

  const { el } = app.dom;
  const BEYOND = 8;
  const ROW = 56;

  /**
   * @param {string} label Of the table.
   * @param {Array<{key: string, title: string, about?: string, width: number, grows?: boolean, cell: function(number)}>} columns
   *   `width` in rem; `cell` makes what a row shows; the first column holds the link of the row.
   * @param {function(number): string} kind The class of a row.
   * @param {{key: string, down: boolean}} sorted By which column rows are sorted.
   * @param {function(string)} sort Called with the key of a column whose title was clicked.
   */
  function table(label, columns, kind, sorted, sort) {
    const head = el("div", { class: "row head", role: "row" }, columns.map((column) => title(column, sorted, sort)));
    const spread = el("div", { class: "spread", role: "rowgroup" });
    const place = el("div", { class: "virtual", tabindex: "0", role: "table", "aria-label": label }, el("div", { role: "rowgroup", class: "heads" }, head), spread);
    place.style.setProperty("--columns", columns.map(({ width, grows }) => (grows ? `minmax(${width}rem, 1fr)` : `${width}rem`)).join(" "));
    place.style.setProperty("--width", `${d3.sum(columns, ({ width }) => width + 0.75) + 1}rem`);
    let numbers = [];
    let shown = [-1, -1];
    let waiting = false;

    function draw() {
      waiting = false;
      const first = Math.max(0, Math.floor(place.scrollTop / ROW) - BEYOND);
      const last = Math.min(numbers.length, Math.ceil((place.scrollTop + place.clientHeight) / ROW) + BEYOND);
      if (first === shown[0] && last === shown[1]) return;
      shown = [first, last];
      spread.replaceChildren(...d3.range(first, last).map(row));
    }

    function row(at) {
      const cells = columns.map((column) => el("span", { class: classOf(column), role: "cell" }, column.cell(numbers[at])));
      const made = el("div", { class: `row ${kind(numbers[at])}`, role: "row", "aria-rowindex": at + 2 }, cells);
      made.style.top = `${at * ROW}px`;
      return made;
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
      /** Show the rows of these numbers, from the first. */
      fill(rows) {
        numbers = rows;
        shown = [-1, -1];
        place.setAttribute("aria-rowcount", rows.length + 1);
        spread.style.height = `${rows.length * ROW}px`;
        place.scrollTop = 0;
        draw();
      },
    };
  }

  const classOf = ({ key, number }) => `${key}${number ? " number" : ""}`;

  function title(column, sorted, sort) {
    const { key, title, about } = column;
    const is = sorted.key === key;
    const order = is ? (sorted.down ? "descending" : "ascending") : "none";
    const button = el("button", { type: "button", "data-sort": key, onclick: () => sort(key) }, title.split(/(?<=_)/).map((part) => [part, el("wbr")]), is ? (sorted.down ? " ▼" : " ▲") : "");
    return el("span", { class: classOf(column), role: "columnheader", "aria-sort": order }, button, about ? el("span", { class: "about" }, about) : null);
  }

  /** Numbers by what a column has for them, those without a value at the end; as they came where it has the same. */
  function ordered(numbers, value, down) {
    const sign = down ? -1 : 1;
    const missing = (one) => one === null || one === undefined || one === "";
    const keyed = numbers.map((number, place) => ({ number, place, value: value(number) }));
    const compare = (a, b) => (typeof a === "number" ? a - b : byName.compare(a, b));
    keyed.sort((a, b) => missing(a.value) - missing(b.value) || (missing(a.value) ? 0 : sign * compare(a.value, b.value)) || a.place - b.place);
    return keyed.map((one) => one.number);
  }

  const byName = new Intl.Collator(undefined, { numeric: true });

  app.virtual = { table, ordered };
})(evalsReport);
