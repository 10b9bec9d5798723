// Questions: a click on a title sorts, a word or an outcome filters, from 2,000 rows on they come page by page.
"use strict";
for (const table of document.querySelectorAll("[data-questions]")) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const size = rows.length > 2000 ? 500 : rows.length;
  const controls = table.closest(".wide").previousElementSibling;
  const part = (name) => controls.querySelector(`[data-${name}]`);
  let ordered = rows;
  let first = 0;
  const show = () => {
    const words = part("search").value.toLowerCase();
    const outcome = part("outcome").value;
    const kept = ordered.filter(
      (row) => (!outcome || row.dataset.outcome === outcome) && (!words || row.textContent.toLowerCase().includes(words)),
    );
    first = Math.min(first, Math.max(0, kept.length - 1));
    body.replaceChildren(...kept.slice(first, first + size));
    part("shown").textContent = `${kept.length} of ${rows.length}`;
    part("previous").hidden = first === 0;
    part("next").hidden = first + size >= kept.length;
  };
  const turn = (by) => { first = Math.max(0, first + by); show(); };
  part("previous").addEventListener("click", () => turn(-size));
  part("next").addEventListener("click", () => turn(size));
  controls.addEventListener("input", () => turn(-first));
  const compare = new Intl.Collator(undefined, { numeric: true }).compare;
  [...table.tHead.rows[0].cells].forEach((cell, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...cell.childNodes);
    cell.append(button);
    button.addEventListener("click", () => {
      const down = cell.getAttribute("aria-sort") === "ascending";
      for (const other of cell.parentElement.cells) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      const text = (row) => row.cells[place].textContent.trim();
      ordered = [...rows].sort((a, b) => (down ? -1 : 1) * compare(text(a), text(b)));
      show();
    });
  });
  controls.hidden = false;
  show();
}
const open = () => {
  const row = document.getElementById(location.hash.slice(1));
  row?.querySelector("details")?.setAttribute("open", "");
  row?.scrollIntoView();
};
window.addEventListener("hashchange", open);
open();
