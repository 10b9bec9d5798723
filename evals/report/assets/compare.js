// A run compared with a baseline: which metrics changed, and how sure that is.
(function (app) {
  "use strict";

  const { dom, charts, pages } = app;
  const { el, foreign, section, table, choice } = dom;
  const COLOURS = { worse: "var(--bad)", better: "var(--good)", changed: "var(--accent)" };
  const SYMBOLS = { worse: "triangle", better: "triangle", changed: "diamond" };

  async function render(place, context) {
    const [first, last] = pairOf(context);
    const data = await compared(first, last);
    if (!context.isCurrent()) return;
    place.append(choices(context.report, first, last));
    if (data.why) {
      place.append(el("h2", {}, "Not compared"), el("p", { class: "note" }, foreign(data.why)));
      return;
    }
    const [a, b] = data.runs.map((run) => run.label);
    place.append(
      el("h2", {}, `${b} compared with ${a}`),
      el("dl", { class: "runs" }, data.runs.map(head)),
      el("p", { class: "sum" }, data.sum),
      ...notes(data),
      ...pages.sections("compare", data, { ...context, first, last, a, b }),
    );
  }

  /** The comparison of two runs, with ids and texts of its questions, which the columns of the baseline hold. */
  async function compared(first, last) {
    const [data, columns] = await Promise.all([`compared/${first}/${last}`, `${first}/questions`].map((name) => app.blocks.get(name)));
    for (const key of data.why ? [] : ["ids", "questions"]) data.questions[key] = data.questions.first.map((number) => columns[key][number]);
    return data;
  }

  let chosen = null;

  /** The runs that can be the baseline: all, or the first of many. */
  const baselines = ({ runs, mostBaselines }) => (runs.length > mostBaselines ? runs.slice(0, 1) : runs);

  /** The baseline that was chosen last; the first run at first. */
  const baseline = ({ runs }) => chosen || runs[0].id;

  /** Keep a baseline for the other pages. */
  function choose(id) {
    chosen = id;
  }

  /** Baseline and run that an address names; without them the baseline and the first run that is another. */
  function pairOf({ report, args }) {
    if (args[0]) choose(args[0]);
    const first = baseline(report);
    return [first, args[1] || report.runs.find((run) => run.id !== first).id];
  }

  /** Both runs can be chosen; one that is chosen for the place of the other changes places with it. */
  function choices(report, first, last) {
    const options = (runs) => runs.map((run) => [run.id, run.label]);
    const go = (a, b) => (location.hash = pages.address("compare", [a, b]));
    const others = report.runs.length > report.mostBaselines ? report.runs.slice(1) : report.runs;
    return el(
      "form",
      { class: "filters", onsubmit: (event) => event.preventDefault() },
      choice("baseline", "Baseline", options(baselines(report)), first, (id) => go(id, id === last ? first : last)),
      choice("run", "Run", options(others), last, (id) => go(id === first ? last : first, id)),
    );
  }

  function head(run) {
    return [
      el("dt", {}, foreign(run.label)),
      el("dd", {}, el("code", {}, run.id), " ", el("span", { class: "facts" }, foreign(run.facts.join(", ")))),
    ];
  }

  function notes(data) {
    const lines = [...data.warnings.map((text) => el("p", { class: "note" }, foreign(text))), data.latency ? el("p", {}, data.latency) : null];
    const more = data.differences.length
      ? el("details", {}, el("summary", {}, "Other differences between the runs"), el("ul", { class: "lines" }, data.differences.map((line) => el("li", {}, foreign(line)))))
      : null;
    return [...lines, more].filter(Boolean);
  }

  pages.part("compare", "metrics", (data, { a, b }) =>
    section(
      "Changes of metrics",
      { class: "moved" },
      drawn(data.pairs, a, b),
      data.pairs.length
        ? table(
            "Metrics over the questions with a value in both runs",
            data.columns,
            data.pairs.map((pair) => ({ kind: pair.kind || "same", cells: pair.cells })),
          )
        : null,
      data.pairs.length ? el("details", {}, el("summary", {}, "How to read this table"), el("ul", { class: "lines" }, data.legend.map((line) => el("li", {}, line)))) : null,
      data.reasons.length
        ? el("details", {}, el("summary", {}, "Metrics without a verdict"), el("ul", { class: "lines" }, data.reasons.map((line) => el("li", {}, foreign(line)))))
        : null,
    ),
  );

  /** Differences with their intervals: ratios on one scale, the rest on a scale for each unit. */
  function drawn(pairs, a, b) {
    const found = d3.group(pairs.filter((pair) => pair.interval), (pair) => pair.unit);
    return [...found].map(([unit, rows]) => differences(rows, `${b} − ${a} (${unit === "ratio" ? "difference of scores" : app.format.axis(unit)})`));
  }

  function differences(rows, label) {
    const said = rows.map((row) => `${row.name} ${row.cells[4]}, ${row.verdict}`).join("; ");
    const verdicts = [...new Set(rows.map((row) => row.verdict))];
    const colour = (row) => COLOURS[row.verdict] || "var(--faint)";
    return charts.plot(`Differences with intervals: ${said}`, {
      width: charts.fitting(640),
      height: 50 + 20 * rows.length,
      marginBottom: 36,
      marginLeft: Math.min(220, 20 + 7 * Math.max(...rows.map((row) => row.name.length))),
      marginRight: 16,
      x: { label, labelArrow: "none", grid: true, nice: true, ticks: 6 },
      y: { domain: rows.map((row) => row.name), label: null, tickSize: 0 },
      marks: [
        Plot.ruleX([0], { stroke: "var(--ink)" }),
        Plot.ruleY(rows, { y: "name", x1: (row) => row.interval[0], x2: (row) => row.interval[1], stroke: colour, strokeWidth: 2 }),
        Plot.dot(rows, {
          y: "name",
          x: "difference",
          r: 4.5,
          symbol: (row) => row.verdict,
          rotate: (row) => (row.verdict === "worse" ? 180 : 0),
          fill: colour,
          stroke: "var(--paper)",
          title: (row) => `${row.name}: ${row.cells[4]} (${row.cells[5]}), ${row.verdict}`,
        }),
      ],
      symbol: { domain: verdicts, range: verdicts.map((verdict) => SYMBOLS[verdict] || "circle") },
    });
  }

  pages.part("compare", "links", (data) =>
    data.moves.length
      ? section(
          "Questions whose first failure changed",
          { class: "moves" },
          table(
            "Questions by first failure",
            [data.runs[0].label, data.runs[1].label, "questions"],
            data.moves.map((move) => ({ cells: [name(data, move.first), name(data, move.last), String(move.count)] })),
          ),
        )
      : null,
  );

  const name = (data, link) => data.questions.labels[link] || (link === "right" ? "no failure" : link);

  pages.register("compare", render, {
    title: "Compare",
    isHome: (report) => report.runs.length === 2,
    link: (report) => (report.runs.length > 1 ? [] : null),
  });
  app.compare = { compared, baseline, baselines, choose, name };
})(evalsReport);
