// The scorecard's intervals, drawn beside the tables that stand in the page already.
(function (app) {
  "use strict";

  const { charts } = app;

  /** Draw the ratios of each group on one scale from 0 to 1, and what has another unit on a scale by unit. */
  function draw(head, scorecard) {
    for (const { group, metrics } of scorecard) {
      const place = head.querySelector(`.group[data-group="${CSS.escape(group)}"]`);
      if (!place || place.querySelector(".drawn")) continue;
      const drawn = app.dom.el("div", { class: "drawn" });
      for (const [unit, rows] of byUnit(metrics.filter((metric) => metric.value !== null && metric.ci))) {
        const said = rows.map((row) => `${row.name} ${row.shown}, ${row.interval}`).join("; ");
        const options = { domain: unit === "ratio" ? [0, 1] : undefined, label: unit === "ratio" ? null : unit };
        drawn.append(charts.intervals(`Intervals of ${group}: ${said}`, rows, options));
      }
      place.append(drawn);
    }
  }

  function byUnit(metrics) {
    return Map.groupBy ? Map.groupBy(metrics, (one) => one.unit) : d3.group(metrics, (one) => one.unit);
  }

  app.scorecard = { draw };
})(evalsReport);
