// The values of any metric as a histogram, and of any two as a scatter plot.
(function (app) {
  "use strict";

  const { dom, charts, pages, filters } = app;
  const { el, choice } = dom;

  pages.part("overview", "distributions", (data, { columns }) => {
    const metrics = columns.metrics;
    if (!metrics.length) return null;
    const find = (name) => metrics.find((metric) => metric.name === name);
    const chosen = { x: (metrics.find((metric) => metric.main && new Set(metric.values).size > 2) || metrics[0]).name, y: "" };
    const place = el("div", { class: "drawing" });
    const draw = () => place.replaceChildren(...(chosen.y ? scatter(columns, find(chosen.x), find(chosen.y)) : histogram(columns, find(chosen.x))));
    const names = metrics.map((metric) => [metric.name, metric.label ? `${metric.name}: ${metric.label}` : metric.name]);
    const select = (axis, label, options) =>
      choice(axis, label, options, chosen[axis], (name) => {
        chosen[axis] = name;
        draw();
      });
    draw();
    return el(
      "section",
      { class: "distributions" },
      el("h3", {}, "Distributions"),
      el("form", { class: "filters", onsubmit: (event) => event.preventDefault() }, select("x", "Metric (x)", names), select("y", "Second metric (y)", [["", "none: histogram"], ...names])),
      place,
    );
  });

  const range = (metric, values) => (metric.unit === "ratio" && d3.min(values) >= 0 && d3.max(values) <= 1 ? [0, 1] : undefined);
  const labelOf = (metric) => `${metric.name} (${app.format.axis(metric.unit)})`;

  function histogram(columns, metric) {
    const values = metric.values.filter((value) => value !== null);
    const [low, high] = d3.extent(values);
    const shown = (value) => app.format.number(value, metric.unit);
    if (low === high) return [el("p", { class: "faint" }, `${metric.name}: ${shown(low)} for all ${values.length} questions with a value`)];
    const said = `${metric.name}: ${values.length} questions, from ${shown(low)} to ${shown(high)}, median ${shown(d3.median(values))}`;
    return [charts.histogram(said, values, { label: labelOf(metric), domain: range(metric, values), unit: metric.unit }), el("p", { class: "faint small" }, said)];
  }

  /** Questions with the same two values are one dot, whose area says how many they are. */
  function scatter(columns, x, y) {
    const both = d3.range(columns.count).filter((number) => x.values[number] !== null && y.values[number] !== null);
    if (!both.length) return [el("p", { class: "faint" }, `No question has a value of both ${x.name} and ${y.name}.`)];
    const grouped = d3.rollups(both, (all) => ({ count: all.length, failed: all.filter((number) => filters.isFailure(columns, number)).length, ids: all.slice(0, 5).map((number) => columns.ids[number]) }), (number) => x.values[number], (number) => y.values[number]);
    const dots = grouped.flatMap(([a, rest]) => rest.map(([b, found]) => ({ x: a, y: b, ...found })));
    const said = `${x.name} and ${y.name} of ${both.length} questions`;
    return [
      charts.scatter(said, dots, {
        x: { label: labelOf(x), domain: range(x, dots.map((dot) => dot.x)), tickFormat: app.format.ticks(x.unit) },
        y: { label: labelOf(y), domain: range(y, dots.map((dot) => dot.y)), tickFormat: app.format.ticks(y.unit) },
        title: (dot) => `${x.name} ${app.format.number(dot.x, x.unit)}, ${y.name} ${app.format.number(dot.y, y.unit)}: ${dot.count} questions, ${dot.failed} failed (${dot.ids.join(", ")}${dot.count > dot.ids.length ? ", …" : ""})`,
      }),
      el("p", { class: "faint small" }, `${said}. The area of a dot is the number of questions; orange dots are mostly questions that failed.`),
    ];
  }
})(evalsReport);
