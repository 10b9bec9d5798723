// The questions whose scores changed: regressions first, then improvements.
(function (app) {
  "use strict";

  const { dom, pages, virtual } = app;
  const { el, foreign, section, choice } = dom;
  const TITLE = "Questions whose scores changed";
  const SHOWN = 2;

  pages.part("compare", "questions", (data, context) => {
    const { questions } = data;
    if (!questions.ids.length) return section(TITLE, {}, el("p", {}, "No question has another score."));
    const filter = Object.fromEntries(["words", "way", "metric", "links", "sort", "down"].map((key) => [key, context.query.get(key) || ""]));
    const columns = columnsOf(questions, context);
    const counted = el("p", { class: "counted", role: "status" });
    const list = el("div", {});
    let places = [];
    const sort = (key) => {
      const again = filter.sort === key;
      if (again && filter.down) Object.assign(filter, { sort: "", down: "" });
      else Object.assign(filter, { sort: key, down: again ? "yes" : "" });
      refresh();
      list.querySelector(`[data-sort="${CSS.escape(key)}"]`).focus();
    };
    const refresh = () => {
      const by = columns.find((column) => column.key === filter.sort);
      places = chosen(questions, filter);
      if (by) places = virtual.ordered(places, by.value, Boolean(filter.down));
      counted.textContent = `${places.length} of ${questions.ids.length} questions; ${questions.said.join(", ")}`;
      const table = virtual.table(TITLE, columns, (place) => `change ${place < questions.lost ? "wrong" : "gained"}`, { key: filter.sort, down: Boolean(filter.down) }, sort);
      list.replaceChildren(table.element);
      table.fill(places);
      const kept = Object.entries(filter).filter(([, value]) => value);
      history.replaceState(null, "", pages.address("compare", [context.first, context.last], kept));
    };
    const save = el("button", { type: "button", onclick: () => dom.saveCsv(`changes-${context.first}-${context.last}.csv`, [columns.map(({ title }) => title), ...places.map((place) => columns.map(({ value }) => value(place)))]) }, "Download CSV");
    requestAnimationFrame(refresh);
    return section(TITLE, { class: "changes" }, form(questions, filter, refresh), el("div", { class: "list-head" }, counted, save), list);
  });

  function chosen(questions, filter) {
    const words = filter.words.toLowerCase().split(/\s+/).filter(Boolean);
    const metric = questions.metrics.indexOf(filter.metric);
    return d3.range(questions.ids.length).filter(
      (place) =>
        (!filter.way || (filter.way === "lost") === (place < questions.lost)) &&
        (metric < 0 || questions.moved[place].some(([moved]) => moved === metric)) &&
        (!filter.links || linked(questions.links[place]) === filter.links) &&
        words.every((word) => `${questions.ids[place]}\n${questions.questions[place]}`.toLowerCase().includes(word)),
    );
  }

  const linked = (links) => (links ? links.join(" → ") : "");

  function columnsOf(questions, context) {
    const link = (place) => el("a", { href: pages.address("beside", [context.first, context.last, String(place + 1)]) }, foreign(questions.ids[place]));
    const mark = (place) => el("span", { class: "value" }, `${place < questions.lost ? "▼" : "▲"} ${questions.shown[place]}`);
    const text = (key, title, width, value) => ({ key, title, width, grows: true, cell: (place) => foreign(value(place)), value });
    return [
      { key: "id", title: "id", width: 6, cell: link, value: (place) => questions.ids[place] },
      { key: "change", title: "change", width: 5, cell: mark, value: (place) => questions.changes[place] },
      text("question", "question", 14, (place) => questions.questions[place]),
      text("said", "metrics", 14, (place) => why(questions, place)),
    ];
  }

  /** What explains the change: a note, then the metrics that changed most. */
  function why(questions, place) {
    const moved = questions.moved[place];
    const some = moved.slice(0, SHOWN).map(([metric, before, after]) => `${questions.metrics[metric]} ${before.toFixed(2)} → ${after.toFixed(2)}`);
    const rest = moved.length > SHOWN ? [`${moved.length - SHOWN} more`] : [];
    return [questions.notes[place], ...some, ...rest].filter(Boolean).join(", ");
  }

  function form(questions, filter, refresh) {
    const set = (key) => (value) => {
      filter[key] = value;
      refresh();
    };
    const select = (key, label, options) => choice(key, label, options, filter[key], set(key));
    const moves = d3.rollups(questions.links.filter(Boolean), (all) => all.length, linked);
    const named = (links) => links.split(" → ").map((link) => app.compare.name({ questions }, link)).join(" → ");
    return el(
      "form",
      { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
      el("label", { class: "field words" }, el("span", {}, "Search"), el("input", { type: "search", value: filter.words, placeholder: "id, question", autocomplete: "off", oninput: (event) => set("words")(event.target.value) })),
      select("way", "Show", [["", "all"], ["lost", `regressions (${questions.lost})`], ["gained", `improvements (${questions.ids.length - questions.lost})`]]),
      select("metric", "Metric that changed", [["", "any"], ...questions.metrics.map((name) => [name, name])]),
      moves.length ? select("links", "First failure", [["", "any"], ...moves.map(([links, count]) => [links, `${named(links)} (${count})`])]) : null,
    );
  }
})(evalsReport);
