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
   * @param {{title?: string, links?: function(object): Array<{title: string, short?: string, args: string[]}>,
   *   isHome?: function(object): boolean, keys?: object}} options `title` of the
   *   tab; `links` gives the entries of the navigation for a report, none for a page that is reached from others,
   *   and `short` is what one of several is called;
   *   `isHome` says whether it is the page that a report opens with, which is else the first one; `keys` are, by key,
   *   what it `does` in words, and the function `act` of the context.
   */
  function register(name, render, options) {
    registered.set(name, { name, render, title: name, links: () => [], isHome: () => false, keys: {}, ...options });
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
    navigate(report, page, wanted);
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

  function navigate(report, current, wanted) {
    const first = home(report);
    const inOrder = [first, ...[...registered.values()].filter((page) => page !== first)];
    const links = inOrder.map((page) => entries(page, page.links(report), page === current ? wanted.args : null));
    document.getElementById("nav").replaceChildren(...links.filter(Boolean));
    document.getElementById("page").removeAttribute("data-ready");
  }

  /** The entries of a page in the navigation: one by its title; several, one a run, by their letters after it. */
  function entries(page, links, args) {
    const made = links.map((link) => {
      const isCurrent = args !== null && link.args.every((one, place) => (args[place] || links[0].args[place]) === one);
      const text = links.length > 1 ? link.short : link.title;
      return el("a", { href: address(page.name, link.args), "aria-label": links.length > 1 ? link.title : null, title: link.title, "aria-current": isCurrent ? "page" : null }, text);
    });
    if (made.length < 2) return made[0];
    return el("span", { class: "several" }, el("span", { class: "faint" }, page.title), made);
  }

  /** By what a run is called where there are so many: A is the first, of more than there are letters 1. */
  function letter(place, count) {
    return count <= 26 ? String.fromCharCode(65 + place) : String(place + 1);
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

  app.pages = { register, part, key, keys, go, sections, address, letter, start };
})(evalsReport);
