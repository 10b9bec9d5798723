// All runs of the folder, the newest first: open one, or select some and compare them.
(function (app) {
  "use strict";

  const { dom, pages, server, live, trends } = app;
  const { el, foreign } = dom;
  const EVERY_S = 2;
  const COLUMNS = ["id", "name", "created", "status", "questions", "score", "server", "profile", "datasets"];
  const chosen = new Set();
  let words = "";

  async function render(place, context) {
    const notes = el("div", { "aria-live": "polite" });
    const courses = el("div", {});
    const tools = el("div", { class: "list-tools" });
    const body = el("tbody", {});
    const state = { known: "", list: null, body, tools, courses, notes };
    place.append(el("h2", {}, "Runs"), notes, courses, filter(state), tools, table(state));
    app.keys.on(context, (event) => onKey(event, state));
    await look(state, context);
    server.repeat(EVERY_S, context.isCurrent, () => look(state, context));
  }

  async function look(state, context) {
    try {
      const list = await server.get("api/runs");
      if (!context.isCurrent()) return;
      const known = JSON.stringify(list.runs);
      state.notes.replaceChildren(...notes(list));
      if (known === state.known) return;
      const isNew = !state.list || state.list.runs.length !== list.runs.length || JSON.stringify(list.trends) !== JSON.stringify(state.list.trends);
      Object.assign(state, { known, list });
      if (isNew) state.courses.replaceChildren(...[trends.section(list.trends)].filter(Boolean));
      draw(state);
    } catch (error) {
      state.notes.replaceChildren(el("p", { class: "error", role: "alert" }, error.message));
    }
  }

  function notes(list) {
    const lines = [...list.objectives, ...list.unreadable.map((said) => `not listed: ${said}`)];
    if (!list.runs.length && !lines.length) return [el("p", {}, "There are no saved runs yet. Start one with ", el("code", {}, "evals eval"), "; it appears here.")];
    return lines.length ? [el("div", { class: "remarks" }, el("ul", {}, lines.map((line) => el("li", {}, foreign(line)))))] : [];
  }

  function filter(state) {
    const field = el("input", { type: "search", value: words, "aria-label": "Filter the list", placeholder: "Filter: name, server, dataset …" });
    field.addEventListener("input", () => {
      words = field.value.trim().toLowerCase();
      draw(state);
    });
    return el("div", { class: "list-filter" }, field);
  }

  function table(state) {
    const head = el("tr", {}, el("th", { scope: "col" }, el("span", { class: "hidden" }, "select")), COLUMNS.map((title) => el("th", { scope: "col" }, title)));
    return el("div", { class: "wide" }, el("table", { class: "run-list" }, el("thead", {}, head), state.body));
  }

  /** Draw the rows anew; the focus stays where it was. */
  function draw(state) {
    const focused = document.activeElement && document.activeElement.id;
    const rows = [...state.list.runs].reverse().filter((run) => fits(run));
    state.body.replaceChildren(...rows.map((run) => row(run, state.list.titles, state)));
    if (!rows.length && state.list.runs.length) state.body.append(el("tr", {}, el("td", { colspan: "10" }, "No run matches the filter.")));
    if (focused && document.getElementById(focused)) document.getElementById(focused).focus();
    drawTools(state);
  }

  const fits = (run) => run.cells.join(" ").toLowerCase().includes(words);

  function row(run, titles, state) {
    const id = run.id;
    const choose = el("input", { type: "checkbox", id: `choose-${id}`, "aria-label": `Select run ${id}` });
    choose.checked = chosen.has(id);
    choose.addEventListener("change", () => {
      if (choose.checked) chosen.add(id);
      else chosen.delete(id);
      drawTools(state);
    });
    const open = el("a", { id: `open-${id}`, href: `${server.root}runs/${id}/` }, el("code", {}, id));
    const label = server.labelling && run.finished ? el("a", { class: "label-link", href: pages.address("label", [id]) }, "label") : null;
    return el(
      "tr",
      { class: `run ${run.status}`, "data-run": id },
      el("td", { class: "choose" }, choose),
      el("th", { scope: "row" }, open, label ? " " : null, label),
      COLUMNS.slice(1).map((title) => cell(run, title, run.cells[titles.indexOf(title)])),
    );
  }

  function cell(run, title, text) {
    const going = title === "status" && run.progress && run.progress.quiet_s < live.QUIET_S;
    const inside = going
      ? [el("span", { class: "status going" }, "in progress"), live.bar(run.progress), el("span", { class: "remark" }, live.inShort(run.progress))]
      : [title === "status" ? el("span", { class: `status ${run.status}` }, text) : foreign(text)];
    return el("td", { class: title }, inside);
  }

  function drawTools(state) {
    const known = new Set(state.list.runs.map((run) => run.id));
    const ids = [...chosen].filter((id) => known.has(id));
    const said = ids.length < 2 ? "Select two or more runs to compare them." : `${ids.length} runs selected; the baseline is ${nameOf(state, ids[0])}.`;
    const compare = ids.length > 1 ? el("a", { class: "button", id: "compare", href: `${server.root}runs/${ids.join(",")}/` }, "Compare") : null;
    state.tools.replaceChildren(
      ...[compare, el("span", { class: "faint" }, said), el("span", { class: "keys" }, "keys: ", app.keys.told([["j", "down"], ["k", "up"], ["x", "select"], ["Enter", "open"], ["c", "compare"]]))].filter(Boolean),
    );
  }

  const nameOf = ({ list }, id) => list.runs.find((run) => run.id === id).cells[list.titles.indexOf("name")] || id;

  function onKey(event, state) {
    const rows = [...state.body.querySelectorAll("tr.run")];
    const current = rows.findIndex((one) => one.contains(document.activeElement));
    const act = {
      j: () => step(rows, current + 1),
      k: () => step(rows, Math.max(0, current - 1)),
      x: () => current >= 0 && rows[current].querySelector("input").click(),
      c: () => document.getElementById("compare") && document.getElementById("compare").click(),
    }[event.key];
    if (act) act();
    return Boolean(act);
  }

  function step(rows, place) {
    const row = rows[Math.min(place, rows.length - 1)];
    if (row) row.querySelector("th a").focus();
  }

  pages.register("all", render, { title: "Runs" });
})(evalsReport);
