// The scorecard's intervals, each drawn in the row of its metric of the tables that the page has already.
(function (app) {
  "use strict";

  const { el, svg } = app.dom;

  /** Draw a value with its interval for each metric: ratios from 0 to 1, other units on the scale of their group. */
  function draw(head, scorecard) {
    for (const { group, metrics } of scorecard) {
      const place = head.querySelector(`.group[data-group="${CSS.escape(group)}"]`);
      if (!place || place.querySelector(".strip")) continue;
      const scales = d3.rollup(metrics, scaleOf, (one) => one.unit);
      const isRatio = (one) => one.unit === "ratio";
      if (!metrics.some((one) => one.value !== null)) continue;
      const title = metrics.some(isRatio) ? [el("span", {}, "0"), el("span", {}, "0.5"), el("span", {}, "1")] : "";
      place.querySelector("thead th:nth-child(3)").after(el("th", { scope: "col", class: "strip" }, el("span", { class: "hidden" }, "value and interval on a scale"), el("span", { class: "ends", "aria-hidden": "true" }, title)));
      place.querySelectorAll("tbody tr").forEach((row, at) => row.children[2].after(el("td", { class: "strip" }, strip(metrics[at], scales.get(metrics[at].unit)))));
    }
  }

  /** The ends of the scale of some metrics of one unit. */
  function scaleOf(metrics) {
    const values = metrics.flatMap((one) => [one.value, ...(one.ci || [])]).filter((value) => value !== null);
    const [low, high] = d3.nice(Math.min(0, ...values), Math.max(0, ...values), 4);
    return metrics[0].unit === "ratio" && low >= 0 && high <= 1 ? [0, 1] : [low, high];
  }

  function strip(metric, [low, high]) {
    if (metric.value === null || low === high) return "";
    const at = (value) => `${(2 + (96 * (value - low)) / (high - low)).toFixed(2)}%`;
    const line = (from, to, kind) => svg("line", { x1: at(from), x2: at(to), y1: "50%", y2: "50%", class: kind });
    const drawn = svg(
      "svg",
      { "aria-hidden": "true", class: "strip" },
      line(low, high, "scale"),
      metric.ci ? line(...metric.ci, "interval") : "",
      svg("circle", { cx: at(metric.value), cy: "50%", r: "4" }),
    );
    const ends = metric.unit === "ratio" && low === 0 && high === 1 ? null : el("span", { class: "ends", "aria-hidden": "true" }, [low, high].map((end) => el("span", {}, app.format.number(end, metric.unit))));
    return [drawn, ends].filter(Boolean);
  }

  app.scorecard = { draw };
})(evalsReport);
