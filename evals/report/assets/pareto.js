// Runs in the space of objectives: two objectives at a time, with the intervals of both.
(function (app) {
  "use strict";

  const { dom, charts, pages } = app;
  const { el, foreign, section, table, choice } = dom;
  const PREFERRED = ["cost", "latency"];

  pages.part("trend", "pareto", (data) => {
    const { pareto } = data;
    if (!pareto) return null;
    const names = pareto.objectives.map((objective) => objective.name);
    const vary = names.filter((name) => new Set(pareto.points.map((point) => point.values[name].value)).size > 1);
    const among = vary.length > 1 ? vary : names;
    const x = PREFERRED.find((name) => among.includes(name)) || among[among.length - 1];
    const chosen = { x, y: among.find((name) => name !== x) || x };
    const place = el("div", {});
    const draw = () => place.replaceChildren(scatter(pareto, chosen));
    draw();
    const select = (axis, label) =>
      choice(axis, label, names.map((name) => [name, name]), chosen[axis], (name) => {
        chosen[axis] = name;
        draw();
      });
    return section(
      "Pareto front: runs that no other run dominates",
      { class: "pareto" },
      el("form", { class: "filters", onsubmit: (event) => event.preventDefault() }, select("x", "Objective (x)"), select("y", "Objective (y)")),
      place,
      el("ul", { class: "lines" }, pareto.says.map((line) => el("li", {}, line))),
      values(pareto),
      pareto.leftOut.length ? el("details", {}, el("summary", {}, "Left out"), el("ul", { class: "lines" }, pareto.leftOut.map((line) => el("li", {}, foreign(line))))) : null,
      el("p", { class: "faint small" }, `Score: the mean weighted by objective (${pareto.weights}). Values are over the questions of all runs; lines are confidence intervals.`),
    );
  });

  function scatter(pareto, { x, y }) {
    const points = pareto.points.map((point) => ({ ...point, x: point.values[x], y: point.values[y] }));
    const unitOf = (name) => pareto.objectives.find((each) => each.name === name).unit;
    const named = (name) => {
      const { direction, unit } = pareto.objectives.find((each) => each.name === name);
      return `${name} (${app.format.axis(unit)}), ${direction} is better`;
    };
    const says = points.map((point) => `${point.label}: ${x} ${point.x.shown}, ${y} ${point.y.shown}${point.onFront ? ", on the front" : ""}`).join("; ");
    const colour = (point) => (point.onFront ? "var(--accent)" : "var(--faint)");
    return charts.plot(`Runs by ${x} and ${y}. ${says}`, {
      width: charts.fitting(560),
      height: 340,
      marginLeft: 56,
      marginBottom: 40,
      marginTop: 28,
      grid: true,
      inset: 16,
      x: { label: named(x), labelArrow: "none", nice: true, ticks: 6, tickFormat: app.format.ticks(unitOf(x)) },
      y: { label: named(y), labelArrow: "none", nice: true, ticks: 6, tickFormat: app.format.ticks(unitOf(y)) },
      marks: [
        Plot.ruleY(points.filter((point) => point.x.ci), { y: (point) => point.y.value, x1: (point) => point.x.ci[0], x2: (point) => point.x.ci[1], stroke: colour }),
        Plot.ruleX(points.filter((point) => point.y.ci), { x: (point) => point.x.value, y1: (point) => point.y.ci[0], y2: (point) => point.y.ci[1], stroke: colour }),
        Plot.dot(points, {
          x: (point) => point.x.value,
          y: (point) => point.y.value,
          r: 6,
          fill: (point) => (point.onFront ? "var(--accent)" : "var(--paper)"),
          stroke: colour,
          strokeWidth: 2,
          title: (point) => `${point.label}: ${x} ${point.x.shown} (${point.x.interval}), ${y} ${point.y.shown} (${point.y.interval})`,
        }),
        Plot.text(points, apart({ x: (point) => point.x.value, y: (point) => point.y.value, text: "label", dx: 8, dy: -10, textAnchor: "start", fill: "var(--ink)", fontWeight: 600 })),
      ],
    });
  }

  const LINE = 14;

  /** Labels that would overlap are one, next to the first of their points: "A, B", or "A and 2 more". */
  function apart(options) {
    return Plot.initializer(options, (data, facets, { x, y, text }, scales, { width }) => {
      const found = Array.from(text.value, (label, place) => ({ names: [label], x: scales.x(x.value[place]), y: scales.y(y.value[place]) }));
      const labels = found.reduce(joined, []);
      const right = (each) => Math.max(0, Math.min(each.x, width - bold(each) - LINE));
      return {
        data: labels,
        facets: [d3.range(labels.length)],
        channels: { x: { value: labels.map(right) }, y: { value: labels.map((each) => each.y) }, text: { value: labels.map(said) } },
      };
    });
  }

  const said = ({ names }) => (names.length < 3 ? names.join(", ") : `${names[0]} and ${names.length - 1} more`);
  const bold = (label) => 1.15 * charts.widthOf(said(label));

  /** The labels with one more, which takes in those that it would overlap. */
  function joined(labels, one) {
    const upon = labels.findIndex((each) => touching(each, one));
    if (upon < 0) return [...labels, one];
    const both = { ...labels[upon], names: [...labels[upon].names, ...one.names] };
    return joined(labels.filter((each, place) => place !== upon), both);
  }

  function touching(a, b) {
    const [left, right] = a.x < b.x ? [a, b] : [b, a];
    return Math.abs(a.y - b.y) < LINE && right.x - left.x < bold(left) + 4;
  }

  function values(pareto) {
    const names = pareto.objectives.map((objective) => objective.name);
    const rows = pareto.points.map((point) => ({
      cells: [
        point.label,
        point.onFront ? "on the front" : point.dominatedBy.length ? `dominated by ${point.dominatedBy.join(", ")}` : "not on the front",
        ...names.map((name) => `${point.values[name].shown} (${point.values[name].interval})`),
        point.score,
      ],
    }));
    return table("Values with confidence intervals", ["run", "Pareto", ...names, "score"], rows);
  }
})(evalsReport);
