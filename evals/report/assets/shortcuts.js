// Keys that act on every page: the search, and a list of what the keys do.
(function (app) {
  "use strict";

  const { el } = app.dom;
  const { pages } = app;
  const SEARCH = '#page input[type="search"]';
  const NAMES = { ArrowLeft: "\u2190", ArrowRight: "\u2192", Escape: "Esc" };

  pages.key("/", "search the questions", ({ report }) => {
    const field = document.querySelector(SEARCH);
    if (field) field.focus();
    else if (report.runs && report.runs.length) pages.go(pages.address("questions", [report.runs[0].id]), SEARCH);
  });

  pages.key("?", "list of keys", () => {
    const rows = pages.keys().map(([name, does]) => [el("dt", {}, el("kbd", {}, NAMES[name] || name)), el("dd", {}, does)]);
    const close = el("button", { onclick: () => help.close() }, "Close");
    const help = el("dialog", { class: "help", "aria-label": "Keys" }, el("h2", {}, "Keys"), el("dl", {}, rows), close);
    help.addEventListener("close", () => help.remove());
    document.body.append(help);
    help.showModal();
  });
})(evalsReport);
