// Elements of a page. Data from a server becomes text, never markup: there is no other way to make an element here.
const evalsReport = {};

(function (app) {
  "use strict";

  /** An element. Properties are attributes, but for `on…`, which are listeners; null and false leave one out. */
  function el(name, properties, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(properties || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else if (key === "value") made.value = value;
      else made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
    return made;
  }

  /** An element of a drawing. */
  function svg(name, properties, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(properties)) made.setAttribute(key, value);
    made.append(...children.filter((child) => child !== ""));
    return made;
  }

  /** Foreign text: its direction is its own, and turns nothing around it. */
  function foreign(text, properties) {
    return el("bdi", { dir: "auto", ...properties }, String(text));
  }

  /** A section with a heading; null where it would be empty. */
  function section(title, properties, ...children) {
    const inside = children.flat(Infinity).filter(Boolean);
    return inside.length ? el("section", properties, el("h3", {}, title), inside) : null;
  }

  /** A table of rows of cells; the first cell of each row is its heading. */
  function table(caption, titles, rows) {
    return el(
      "div",
      { class: "wide", tabindex: "0", role: "region", "aria-label": caption },
      el(
        "table",
        {},
        el("caption", {}, caption),
        el("thead", {}, el("tr", {}, titles.map((title) => el("th", { scope: "col" }, title)))),
        el("tbody", {}, rows.map((row) => el("tr", { class: row.kind || null }, row.cells.map(cell)))),
      ),
    );
  }

  function cell(content, place) {
    return place === 0 ? el("th", { scope: "row" }, content) : el("td", {}, content);
  }

  /** A table as the program describes it, with foreign text in its cells. */
  function tableOf({ title, columns, rows }) {
    return table(title, columns, rows.map(({ cells, tone }) => ({ cells: cells.map((text) => foreign(text)), kind: tone })));
  }

  /** A choice with its label; `act` gets the value. Options are [value, text]. */
  function choice(kind, label, options, chosen, act) {
    const made = options.map(([value, text]) => el("option", { value, selected: value === chosen }, text));
    return el("label", { class: `field ${kind}` }, el("span", {}, label), el("select", { onchange: (event) => act(event.target.value) }, made));
  }

  const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;

  /** A cell of CSV. Text that a spreadsheet would take for a formula gets an apostrophe before it. */
  function cellOfCsv(value) {
    const text = String(value ?? "");
    const runs = /^[\t\r\n]|^\s*[=+\-@＝＋－＠]/.test(text) && !NUMBER.test(text);
    return `"${(runs ? `'${text}` : text).replaceAll('"', '""')}"`;
  }

  /** Let the reader save rows of cells as a CSV file, which is made here. */
  function saveCsv(name, rows) {
    const text = `\ufeff${rows.map((row) => row.map(cellOfCsv).join(",")).join("\r\n")}\r\n`;
    const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    el("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }

  app.dom = { svg, choice, saveCsv, el, foreign, section, table, tableOf };
})(evalsReport);
