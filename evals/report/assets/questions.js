// The questions of a run: a list that is searched and filtered. The filter stands in the address.
(function (app) {
  "use strict";

  const { dom, format, filters, pages } = app;
  const { el, foreign } = dom;
  const ROW = 56;

  async function render(place, context) {
    const id = context.args[0] || context.report.runs[0].id;
    const data = await app.blocks.get(`${id}/questions`);
    if (!context.isCurrent()) return;
    const filter = filters.fromQuery(context.query);
    const counted = el("p", { class: "counted", role: "status" });
    let numbers = [];
    const list = app.virtual.list((place) => row(id, data, filter, numbers[place]), ROW);
    const refresh = () => {
      numbers = filters.chosen(data, filter);
      counted.textContent = `${numbers.length} of ${data.count} questions`;
      list.fill(numbers.length);
      history.replaceState(null, "", pages.address("questions", [id], filters.toQuery(filter)));
    };
    place.append(el("h2", {}, "Questions"), form(data, filter, refresh), counted, list.element);
    refresh();
  }

  function row(id, data, filter, number) {
    const link = data.links[number];
    const metric = filters.metricOf(data, filter);
    const kind = data.errors[number] ? "lost" : link && link !== "right_without_gold" ? "wrong" : "right";
    const said = data.errors[number] || (link ? data.labels[link] : "");
    return el(
      "div",
      { class: `row ${kind}`, role: "listitem" },
      el(
        "a",
        { href: pages.address("question", [id, String(number + 1)]) },
        el("span", { class: "id" }, foreign(data.ids[number])),
        el("span", { class: "text" }, foreign(data.questions[number])),
        el("span", { class: "said" }, said),
        metric ? el("span", { class: "value" }, format.number(metric.values[number], metric.unit)) : null,
      ),
    );
  }

  function form(data, filter, refresh) {
    let timer = 0;
    const later = () => {
      clearTimeout(timer);
      timer = setTimeout(refresh, 120);
    };
    const field = (key, label, control) => el("label", { class: `field ${key}` }, el("span", {}, label), control);
    const input = (key, label, type, more) =>
      field(
        key,
        label,
        el("input", {
          type,
          value: filter[key],
          ...more,
          oninput: (event) => {
            filter[key] = event.target.value;
            later();
          },
        }),
      );
    const choice = (key, label, options) =>
      field(
        key,
        label,
        el(
          "select",
          {
            onchange: (event) => {
              filter[key] = event.target.value;
              refresh();
            },
          },
          options.map(([value, text]) => el("option", { value, selected: value === filter[key] }, text)),
        ),
      );
    const reset = el(
      "button",
      {
        type: "reset",
        onclick: () => {
          for (const key of Object.keys(filter)) filter[key] = "";
          made.querySelectorAll("input").forEach((one) => one.setAttribute("value", ""));
          made.querySelectorAll("option").forEach((one) => one.removeAttribute("selected"));
          setTimeout(refresh);
        },
      },
      "All",
    );
    const made = el(
      "form",
      { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
      input("words", "Search", "search", { placeholder: "id, question, begin of the answer", autocomplete: "off" }),
      choice("failure", "Failure", failures(data)),
      data.slices.length ? choice("slice", "Slice", slices(data)) : null,
      data.metrics.length
        ? [
            choice("metric", "Metric", [["", "none"], ...data.metrics.map((metric) => [metric.name, metric.name])]),
            input("from", "from", "number", { step: "any" }),
            input("to", "to", "number", { step: "any" }),
            choice("order", "Order", [["", "as asked"], ["up", "lowest first"], ["down", "highest first"]]),
          ]
        : null,
      reset,
    );
    return made;
  }

  function failures(data) {
    const found = d3.rollup(data.links.filter(Boolean), (all) => all.length, (link) => link);
    const links = Object.keys(data.labels).filter((link) => found.has(link));
    return [
      ["", "all questions"],
      [filters.FAILED, "ended wrong"],
      [filters.RIGHT, "not known to have ended wrong"],
      ...links.map((link) => [link, `${data.labels[link]} (${found.get(link)})`]),
    ];
  }

  function slices(data) {
    const options = data.slices.flatMap((slice) => slice.values.map((value) => `${slice.key}=${value}`));
    return [["", "all"], ...options.map((option) => [option, option.replace("=", ": ")])];
  }

  pages.register("questions", render, {
    title: "Questions",
    links: (report) =>
      report.runs.map((run, place) => ({
        title: report.runs.length > 1 ? `Questions of ${run.name}` : "Questions",
        short: pages.letter(place, report.runs.length),
        args: [run.id],
      })),
  });
})(evalsReport);
