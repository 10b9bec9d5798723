// A run beside the baseline: which metrics moved, and how sure that is.
(function (app) {
  "use strict";

  const { dom, charts, pages } = app;
  const { el, foreign, section, table } = dom;
  const COLOURS = { worse: "var(--bad)", better: "var(--good)", changed: "var(--accent)" };
  const SYMBOLS = { worse: "triangle", better: "triangle", changed: "diamond" };

  async function render(place, context) {
    const [first, last] = pairOf(context);
    const data = await app.blocks.get(`compared/${first}/${last}`);
    if (!context.isCurrent()) return;
    if (data.why) {
      place.append(el("h2", {}, "Not compared"), el("p", { class: "note" }, foreign(data.why)));
      return;
    }
    const [a, b] = data.runs.map((run) => run.label);
    place.append(
      el("h2", {}, `${b} against ${a}`),
      el("dl", { class: "runs" }, data.runs.map(head)),
      el("p", { class: "sum" }, data.sum),
      ...notes(data),
      ...pages.sections("compare", data, { ...context, first, last, a, b }),
    );
  }

  /** The runs that an address names; without one the second beside the first. */
  function pairOf(context) {
    const { runs } = context.report;
    return [context.args[0] || runs[0].id, context.args[1] || runs[1].id];
  }

  function head(run) {
    return [
      el("dt", {}, run.label),
      el("dd", {}, foreign(run.name), " ", el("code", {}, run.id), " ", el("span", { class: "facts" }, foreign(run.facts.join(", ")))),
    ];
  }

  function notes(data) {
    const lines = [...data.warnings.map((text) => el("p", { class: "note" }, foreign(text))), data.latency ? el("p", {}, data.latency) : null];
    const more = data.differences.length
      ? el("details", {}, el("summary", {}, "What else differs between the runs"), el("ul", { class: "lines" }, data.differences.map((line) => el("li", {}, foreign(line)))))
      : null;
    return [...lines, more].filter(Boolean);
  }

  pages.part("compare", "metrics", (data, { a, b }) =>
    section(
      "What moved",
      { class: "moved" },
      drawn(data.pairs, a, b),
      data.pairs.length
        ? table(
            `Metrics over the questions with a value in both runs`,
            data.columns,
            data.pairs.map((pair) => ({ kind: pair.kind || "same", cells: pair.cells })),
          )
        : null,
      data.legend.map((line) => el("p", { class: "faint small" }, line)),
      data.reasons.length
        ? el("details", {}, el("summary", {}, "What has no verdict"), el("ul", { class: "lines" }, data.reasons.map((line) => el("li", {}, foreign(line)))))
        : null,
    ),
  );

  /** Differences with their intervals: ratios on one scale, the rest on a scale for each unit. */
  function drawn(pairs, a, b) {
    const found = d3.group(pairs.filter((pair) => pair.interval), (pair) => pair.unit);
    return [...found].map(([unit, rows]) => differences(rows, `${b} − ${a}${unit === "ratio" ? "" : ` in ${unit}`}`));
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
      x: { label, labelArrow: "none", grid: true, nice: true },
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
          "First broken link, where it is another",
          { class: "moves" },
          table(
            "Questions by where they went wrong first",
            ["in the first run", "in the other", "questions"],
            data.moves.map((move) => ({ cells: [name(data, move.first), name(data, move.last), String(move.count)] })),
          ),
        )
      : null,
  );

  const name = (data, link) => data.questions.labels[link] || link;

  pages.register("compare", render, {
    title: "Compare",
    isHome: (report) => report.runs.length === 2,
    links: (report) =>
      report.runs.slice(1).map((run, place) => ({
        title: report.runs.length > 2 ? `Compare ${run.name} with ${report.runs[0].name}` : "Compare",
        short: pages.letter(place + 1, report.runs.length),
        args: [report.runs[0].id, run.id],
      })),
  });
  app.compare = { pairOf };
})(evalsReport);
