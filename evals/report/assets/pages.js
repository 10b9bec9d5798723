// The pages of a report, each under an address of its own: #/name/argument/…?key=value
(function (app) {
  "use strict";

  const { el } = app.dom;
  const registered = new Map();
  const parts = new Map();
  const everywhere = new Map();
  const MAIN = "#main";
  let turn = 0;
  let current = null;
  let wanted = MAIN;

  /**
   * Add a page.
   * @param {string} name Of its address: letters and dashes.
   * @param {function(HTMLElement, object): Promise|void} render Fills an element. It is given `report` (the block
   *   "report"), `args` (what follows the name in the address), `query` (a URLSearchParams) and `isCurrent` (whether
   *   the reader has not gone on to another page: ask after each wait).
   * @param {{title?: string, link?: function(object): string[]|null, isHome?: function(object): boolean, keys?: object}} options
   *   `title` of the tab; `link` gives the arguments of its address in the navigation for a report, null for none;
   *   `isHome` says whether it is the page that a report opens with, which is else the first one; `keys` are, by key,
   *   what it `does` in words, and the function `act` of the context.
   */
  function register(name, render, options) {
    registered.set(name, { name, render, title: name, link: () => null, isHome: () => false, keys: {}, ...options });
  }

  /** Add a key that acts on every page: what it `does`, and the function `act` of the context. */
  function key(name, does, act) {
    everywhere.set(name, { does, act });
  }

  /** What the keys do on the page that is shown. */
  function keys() {
    return [...Object.entries(current.page.keys), ...everywhere].map(([name, { does }]) => [name, does]);
  }

  /** Go to a page, and with the keyboard to the first such element of it. */
  function go(hash, selector) {
    wanted = selector;
    location.hash = hash;
  }

  /** Add a section to a page that has some: `render(data, context)` gives an element, or null for nothing to say. */
  function part(page, name, render) {
    if (!parts.has(page)) parts.set(page, new Map());
    parts.get(page).set(name, render);
  }

  /** The sections of a page, in the order in which they were added. */
  function sections(page, data, context) {
    return [...(parts.get(page) || new Map()).values()].map((render) => render(data, context)).filter(Boolean);
  }

  /** The address of a page. */
  function address(name, args, query) {
    const asked = new URLSearchParams(query || {}).toString();
    return `#/${[name, ...(args || [])].map(encodeURIComponent).join("/")}${asked ? `?${asked}` : ""}`;
  }

  function parsed(hash) {
    const [path, query] = hash.replace(/^#\/?/, "").split("?", 2);
    const [name, ...args] = path.split("/").map(decoded);
    return { name, args, query: new URLSearchParams(query || "") };
  }

  function decoded(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  }

  /** Show what the address names, the first page for what is none. */
  async function show(report) {
    if (location.hash === "#main") return;
    const own = (turn += 1);
    const place = document.getElementById("page");
    const wanted = parsed(location.hash);
    const page = registered.get(wanted.name) || home(report);
    const context = { report, ...wanted, isCurrent: () => own === turn };
    current = { page, context };
    const made = el("div", { class: `page ${page.name}` });
    place.replaceChildren(made);
    navigate(report, page);
    try {
      await page.render(made, context);
    } catch (error) {
      console.error(error);
      made.append(el("p", { class: "error", role: "alert" }, `This page cannot be shown: ${error.message}`));
    }
    if (own === turn) place.dataset.ready = page.name;
  }

  function home(report) {
    const pages = [...registered.values()];
    return pages.find((page) => page.isHome(report)) || pages[0];
  }

  /** Call what the page does on a key, but not while somebody writes or chooses. */
  function pressed(event) {
    const busy = event.key.startsWith("Arrow") ? "input, select, textarea, .wide" : "input, select, textarea"; // arrows scroll a table
    const writes = event.target.closest(busy) || event.ctrlKey || event.metaKey || event.altKey;
    const open = document.querySelector("dialog[open]"); // which has keys of its own
    const found = current && !writes && !open && (current.page.keys[event.key] || everywhere.get(event.key));
    if (!found) return;
    event.preventDefault();
    found.act(current.context);
  }

  function navigate(report, current) {
    const first = home(report);
    const inOrder = [first, ...[...registered.values()].filter((page) => page !== first)];
    const linked = inOrder.map((page) => [page, page.link(report)]).filter(([, args]) => args);
    const links = linked.map(([page, args]) => el("a", { href: address(page.name, args), "aria-current": page === current ? "page" : null }, page.title));
    document.getElementById("nav").replaceChildren(...links);
    document.getElementById("page").removeAttribute("data-ready");
  }

  let runShown = null;

  /** The run that a page is about: of its address, else the one shown last, else the first. */
  function run({ report, args }) {
    runShown = args[0] || runShown || report.runs[0].id;
    return runShown;
  }

  /** A choice among the runs by name, in their order; null where there is one. */
  function runChoice(report, label, id, act) {
    return report.runs.length > 1 ? app.dom.choice("run", label, report.runs.map((each) => [each.id, each.label]), id, act) : null;
  }

  /** Begin: show the page of the address, now and whenever it changes. */
  async function start() {
    const report = await app.blocks.get("report");
    window.addEventListener("hashchange", async () => {
      await show(report);
      if (location.hash === "#main") return;
      window.scrollTo(0, 0);
      const place = document.querySelector(wanted) || document.querySelector(MAIN);
      place.focus({ preventScroll: true }); // where the keyboard goes on from
      wanted = MAIN;
    });
    document.addEventListener("keydown", pressed);
    await show(report);
  }

  app.pages = { register, part, key, keys, go, sections, address, run, runChoice, start };
})(evalsReport);
