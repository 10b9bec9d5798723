// How values are spread over the questions, metric by metric.
(function (app) {
  "use strict";

  const { dom, charts, pages } = app;
  const { el } = dom;

  pages.part("overview", "distributions", (data, context) => {
    if (!data.scored) return null;
    const place = el("div", { class: "histograms" });
    const whole = el("section", { class: "distributions" }, el("h3", {}, "Distributions"), place);
    app.blocks.get(`${context.id}/questions`).then((questions) => {
      const drawn = alike(questions.metrics).map(chart).filter(Boolean);
      if (drawn.length) place.append(...drawn);
      else whole.remove();
    });
    return whole;
  });

  /** Metrics that have the same value for each question, such as two percentiles of one latency, are drawn once. */
  function alike(metrics) {
    const found = new Map();
    for (const metric of metrics) {
      const key = JSON.stringify(metric.values);
      const known = found.get(key);
      found.set(key, known ? { ...known, name: `${known.name}, ${metric.name}` } : metric);
    }
    return [...found.values()];
  }

  function chart(metric) {
    const values = metric.values.filter((value) => value !== null);
    if (!values.length) return null;
    if (values.every((value) => value === values[0])) {
      const one = app.format.number(values[0], metric.unit);
      return el("div", { class: "histogram" }, el("h4", {}, metric.name), el("p", { class: "faint" }, values.length === 1 ? `${one} for 1 question` : `${one} for all ${values.length} questions`));
    }
    const domain = metric.unit === "ratio" && values.every((value) => value >= 0 && value <= 1) ? [0, 1] : undefined;
    const label = metric.unit === "ratio" ? null : metric.unit;
    return el(
      "div",
      { class: "histogram" },
      el("h4", {}, metric.name),
      charts.histogram(`${metric.name} over ${values.length} questions`, values, { label, domain }),
    );
  }
})(evalsReport);
