// The questions of a run as a table that is searched, filtered, sorted and downloaded. The address holds the choices.
(function (app) {
  "use strict";

  const { dom, format, filters, pages, virtual } = app;
  const { el, foreign, choice } = dom;

  async function render(place, context) {
    const id = pages.run(context);
    const data = await app.blocks.get(`${id}/questions`);
    if (!context.isCurrent()) return;
    const filter = filters.fromQuery(context.query);
    const counted = el("p", { class: "counted", role: "status" });
    const list = el("div", {});
    let numbers = [];
    const sort = (key) => {
      const again = filter.sort === key;
      const first = worstFirst(data, key);
      if (again && filter.way !== first) Object.assign(filter, { sort: "", way: "" });
      else Object.assign(filter, { sort: key, way: again ? (first === "up" ? "down" : "up") : first });
      refresh();
      list.querySelector(`[data-sort="${CSS.escape(key)}"]`).focus();
    };
    const refresh = () => {
      const columns = columnsOf(id, data, filter);
      const by = columns.find((column) => column.key === filter.sort);
      numbers = filters.chosen(data, filter);
      if (by) numbers = virtual.ordered(numbers, by.value, filter.way === "down");
      counted.textContent = `${numbers.length} of ${data.count} questions`;
      const table = virtual.table("Questions", columns, (number) => kindOf(data, number), { key: filter.sort, down: filter.way === "down" }, sort);
      list.replaceChildren(table.element);
      table.fill(numbers);
      history.replaceState(null, "", pages.address("questions", [id], filters.toQuery(filter)));
    };
    const save = el("button", { type: "button", onclick: () => dom.saveCsv(`questions-${id}.csv`, cells(data, numbers)) }, "Download CSV");
    place.append(
      el("h2", {}, "Questions"),
      ...[pages.runChoice(context.report, "Run", id, (other) => (location.hash = pages.address("questions", [other], filters.toQuery(filter))))].filter(Boolean),
      form(data, filter, refresh),
      el("div", { class: "list-head" }, counted, data.metrics.length ? chooser(data, filter, refresh) : null, save),
      list,
    );
    refresh();
  }

  const kindOf = (data, number) => (data.errors[number] ? "lost" : filters.isFailure(data, number) ? "wrong" : "right");

  /** The direction of the first click: the worst values first, texts from A. */
  function worstFirst(data, key) {
    const metric = data.metrics.find((each) => each.name === key);
    return metric && metric.better === false ? "down" : "up";
  }

  /** The metrics that are shown: those chosen; else the main ones that differ between questions, and the one filtered by. */
  function shown(data, filter) {
    if (filter.columns) return filter.columns.split(",");
    const main = data.metrics.filter((metric) => metric.main && new Set(metric.values).size > 1).map((metric) => metric.name);
    return filter.metric && !main.includes(filter.metric) ? [...main, filter.metric] : main;
  }

  function columnsOf(id, data, filter) {
    const names = shown(data, filter);
    const link = (number) => el("a", { href: pages.address("question", [id, String(number + 1)]) }, foreign(data.ids[number]));
    const text = (key, width, values) => ({ key, title: key, width, grows: true, cell: (number) => foreign(values[number]), value: (number) => values[number] });
    return [
      { key: "id", title: "id", width: 6, cell: link, value: (number) => data.ids[number] },
      { key: "outcome", title: "outcome", width: 8, cell: (number) => filters.outcome(data, number), value: (number) => filters.outcome(data, number) },
      text("question", 12, data.questions),
      text("answer", 12, data.answers),
      ...data.metrics.filter((metric) => names.includes(metric.name)).map((metric) => ({
        key: metric.name,
        title: metric.name,
        about: metric.label,
        number: true,
        width: Math.max(5, 1 + 0.5 * Math.max(...metric.name.split("_").map((part) => part.length))),
        cell: (number) => format.number(metric.values[number], metric.unit),
        value: (number) => metric.values[number],
      })),
    ];
  }

  function chooser(data, filter, refresh) {
    const box = (metric) => {
      const made = el("input", { type: "checkbox", checked: shown(data, filter).includes(metric.name) });
      made.addEventListener("change", () => {
        const names = shown(data, filter).filter((name) => name !== metric.name);
        filter.columns = [...names, ...(made.checked ? [metric.name] : [])].join(",");
        refresh();
      });
      return el("label", {}, made, el("span", {}, `${metric.name} `, el("span", { class: "faint" }, metric.label)));
    };
    return el("details", { class: "columns" }, el("summary", {}, "Columns"), el("div", {}, data.metrics.map(box)));
  }

  /** The listed questions with all their metrics as rows of a file. */
  function cells(data, numbers) {
    const titles = ["id", "question", "answer", "outcome", ...data.slices.map((slice) => slice.key), ...data.metrics.map((metric) => metric.name)];
    const row = (number) => [
      data.ids[number],
      data.questions[number],
      data.answers[number],
      filters.outcome(data, number),
      ...data.slices.map((slice) => slice.values[slice.places[number]]),
      ...data.metrics.map((metric) => metric.values[number]),
    ];
    return [titles, ...numbers.map(row)];
  }

  function form(data, filter, refresh) {
    let timer = 0;
    const set = (key) => (value) => {
      filter[key] = value;
      clearTimeout(timer);
      timer = setTimeout(refresh, 120);
    };
    const input = (key, label, type, more) =>
      el("label", { class: `field ${key}` }, el("span", {}, label), el("input", { type, value: filter[key], ...more, oninput: (event) => set(key)(event.target.value) }));
    const reset = el("button", { type: "button" }, "Reset");
    reset.addEventListener("click", () => {
      for (const key of Object.keys(filter)) filter[key] = "";
      made.replaceWith((made = form(data, filter, refresh)));
      refresh();
    });
    let made = el(
      "form",
      { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
      input("words", "Search", "search", { placeholder: "id, question, start of the answer", autocomplete: "off" }),
      choice("failure", "Outcome", outcomes(data), filter.failure, set("failure")),
      data.slices.length ? choice("slice", "Slice", slices(data), filter.slice, set("slice")) : null,
      data.metrics.length
        ? [
            choice("metric", "Metric between", [["", "any"], ...data.metrics.map((metric) => [metric.name, metric.name])], filter.metric, set("metric")),
            input("from", "min", "number", { step: "any" }),
            input("to", "max", "number", { step: "any" }),
          ]
        : null,
      reset,
    );
    return made;
  }

  function outcomes(data) {
    const found = d3.rollup(data.links.filter(Boolean), (all) => all.length, (link) => link);
    const links = Object.keys(data.labels).filter((link) => found.has(link));
    return [
      ["", "all questions"],
      [filters.FAILED, "failed"],
      [filters.RIGHT, "no failure found"],
      ...links.map((link) => [link, `${data.labels[link]} (${found.get(link)})`]),
    ];
  }

  function slices(data) {
    const options = data.slices.flatMap((slice) => slice.values.map((value) => `${slice.key}=${value}`));
    return [["", "all"], ...options.map((option) => [option, option.replace("=", ": ")])];
  }

  pages.register("questions", render, { title: "Questions", link: (report) => (report.runs.length ? [] : null) });
})(evalsReport);
