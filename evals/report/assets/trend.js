// Many runs: each metric from run to run.
(function (app) {
  "use strict";

  const { dom, charts, pages } = app;
  const { el, foreign, section, table } = dom;

  async function render(place, context) {
    const data = await app.blocks.get("trend");
    if (!context.isCurrent()) return;
    place.append(el("h2", {}, `${data.runs.length} runs, the oldest first`), ...pages.sections("trend", data, context));
  }

  pages.part("trend", "runs", (data, { report }) =>
    el("div", {},
    el(
      "dl",
      { class: "runs" },
      data.runs.map((run) => [
        el("dt", {}, run.label),
        el("dd", {}, link(report, run), " ", el("code", {}, run.id), " ", el("span", { class: "facts" }, `${run.when}, ${run.status}`)),
      ]),
    ),
    data.why ? el("p", { class: "note" }, "The runs are not compared: ", foreign(data.why)) : null,
    ),
  );

  const link = (report, run) => el("a", { href: pages.address("overview", [run.id]) }, foreign(run.name));

  pages.part("trend", "trends", (data) => {
    const shared = data.common > 0;
    const drawn = el("div", {});
    const draw = (kind) => drawn.replaceChildren(...data.groups.map((group) => trends(group, data.runs, kind)).filter(Boolean));
    draw(shared ? "shared" : "own");
    const choice = el(
      "select",
      { onchange: (event) => draw(event.target.value) },
      el("option", { value: "shared" }, `the ${data.common} questions of all runs`),
      el("option", { value: "own" }, "each run's own questions"),
    );
    return section("Trends", { class: "trends" }, shared ? el("label", { class: "field over" }, el("span", {}, "Values over"), choice) : null, drawn);
  });

  function trends(group, runs, kind) {
    const made = group.metrics.map((metric) => trend(metric, points(metric, runs, kind))).filter(Boolean);
    return made.length ? el("div", {}, el("h4", {}, group.group), el("div", { class: "multiples" }, made)) : null;
  }

  function points(metric, runs, kind) {
    const values = metric[kind] || [];
    return runs.map((run, place) => ({ ...run, ...values[place], there: Boolean(values[place]) })).filter((point) => point.there);
  }

  /** Two charts beside each other on a phone. */
  function width() {
    const room = document.documentElement.clientWidth;
    return room < 640 ? Math.floor((room - 40) / 2) : 250;
  }

  function trend(metric, found) {
    if (!found.length) return null;
    const isRatio = metric.unit === "ratio";
    const says = found.map((point) => `${point.label} ${point.shown}`).join(", ");
    const title = el("p", { class: "name" }, metric.name, metric.arrow ? ` ${metric.arrow}` : "");
    const chart = charts.plot(`${metric.name} from run to run: ${says}`, {
      width: width(),
      height: 130,
      marginLeft: 44,
      marginBottom: 22,
      marginTop: 8,
      marginRight: 8,
      x: { domain: found.map((point) => point.label), label: null, type: "point" },
      y: { label: null, grid: true, ticks: 4, domain: isRatio ? [0, 1] : undefined, zero: !isRatio && metric.unit !== "percent", nice: !isRatio },
      marks: [
        Plot.line(found, { x: "label", y: "value", stroke: "var(--line)", strokeWidth: 1.5 }),
        Plot.ruleX(found.filter((point) => point.ci), { x: "label", y1: (point) => point.ci[0], y2: (point) => point.ci[1], stroke: "var(--accent)", strokeWidth: 2 }),
        Plot.dot(found, { x: "label", y: "value", r: 3.5, fill: "var(--accent)", stroke: "var(--paper)", title: (point) => `${point.label} ${point.name}: ${point.shown} (${point.interval}), n ${point.n}` }),
      ],
    });
    return el("div", { class: "multiple" }, title, chart);
  }

  pages.part("trend", "verdicts", (data) => {
    if (!data.table) return null;
    const rows = data.table.rows.map((row) => ({ cells: row.cells.map((text, place) => (place ? verdict(text) : text)) }));
    return section("Each against the first", { class: "verdicts" }, table("Metrics over the questions that all runs have in common", data.table.columns, rows));
  });

  /** A verdict with a sign beside the colour. */
  function verdict(said) {
    const sign = { worse: "▼ ", better: "▲ ", changed: "◆ " }[said.split(":")[0]];
    return sign ? el("span", { class: `verdict-${said.split(":")[0]}` }, sign, said) : said;
  }

  pages.register("trend", render, {
    title: "Trends",
    isHome: (report) => report.runs.length > 2,
    links: (report) => (report.runs.length > 2 ? [{ title: "Trends", args: [] }] : []),
  });
})(evalsReport);
