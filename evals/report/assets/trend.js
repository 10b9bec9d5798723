// Three runs or more: each metric run by run, in the order in which the runs were named.
(function (app) {
  "use strict";

  const { dom, charts, format, pages } = app;
  const { el, foreign, section, table, choice } = dom;

  async function render(place, context) {
    const data = await app.blocks.get("trend");
    if (!context.isCurrent()) return;
    place.append(el("h2", {}, `${data.runs.length} runs`), ...pages.sections("trend", data, context));
  }

  pages.part("trend", "runs", (data) =>
    el(
      "div",
      {},
      el(
        "ol",
        { class: "runs" },
        data.runs.map((run) =>
          el("li", {}, el("a", { href: pages.address("overview", [run.id]) }, foreign(run.label)), " ", el("code", {}, run.id), " ", el("span", { class: "facts" }, `${run.when}, ${run.status}`)),
        ),
      ),
      data.why ? el("p", { class: "note" }, "The runs are not compared: ", foreign(data.why)) : null,
    ),
  );

  pages.part("trend", "trends", (data) => {
    const shared = data.common > 0;
    const drawn = el("div", {});
    const draw = (kind) => drawn.replaceChildren(...data.groups.map((group) => trends(group, data.runs, kind)).filter(Boolean));
    draw(shared ? "shared" : "own");
    const options = [["shared", `the ${data.common} questions of all runs`], ["own", "each run's own questions"]];
    return section("Metrics by run", { class: "trends" }, shared ? choice("over", "Values over", options, "shared", draw) : null, drawn);
  });

  function trends(group, runs, kind) {
    const made = group.metrics.map((metric) => trend(metric, points(metric, runs, kind))).filter(Boolean);
    return made.length ? el("div", {}, el("h4", {}, group.group), el("div", { class: "multiples" }, made)) : null;
  }

  function points(metric, runs, kind) {
    const values = metric[kind] || [];
    return runs.flatMap((run, place) => (values[place] ? [{ ...values[place], name: run.label }] : []));
  }

  function trend(metric, found) {
    if (!found.length) return null;
    const says = found.map((point) => `${point.name} ${point.shown}`).join(", ");
    const isRatio = metric.unit === "ratio" && found.every(({ value, ci }) => d3.min([value, ...(ci || [])]) >= 0 && d3.max([value, ...(ci || [])]) <= 1);
    return el(
      "div",
      { class: "multiple" },
      el("p", { class: "name" }, metric.name, metric.arrow ? ` ${metric.arrow} ` : " ", el("span", { class: "faint" }, metric.label)),
      charts.intervals(`${metric.name} by run: ${says}`, found.map((point) => ({ ...point, shown: `${point.shown} (${point.interval}), ${point.n} questions` })), {
        domain: isRatio ? [0, 1] : undefined,
        label: format.axis(metric.unit),
        unit: metric.unit,
        width: 360,
      }),
    );
  }

  pages.part("trend", "verdicts", (data, { report }) => {
    const place = el("div", {});
    const draw = async (id) => {
      const against = await app.blocks.get(`against/${id}`);
      if (!against.table) return place.replaceChildren(el("p", { class: "note" }, "Not all runs can be compared with this baseline."));
      const rows = against.table.rows.map((row) => ({ cells: row.cells.map((text, at) => (at ? verdict(text) : text)) }));
      place.replaceChildren(table("Metrics over the questions that all runs have in common", against.table.columns, rows));
    };
    if (data.why) return null;
    draw(app.compare.baseline(report));
    const select = choice("baseline", "Baseline", app.compare.baselines(report).map((run) => [run.id, run.label]), app.compare.baseline(report), (id) => {
      app.compare.choose(id);
      draw(id);
    });
    return section("Compared with the baseline", { class: "verdicts" }, select, place);
  });

  /** A value and its verdict, with a sign, so that its colour is not all that tells it apart. */
  function verdict(said) {
    const word = said.split(" ").pop();
    const sign = { worse: "▼ ", better: "▲ ", changed: "◆ " }[word];
    return sign ? [said.slice(0, -word.length), el("span", { class: `verdict-${word}` }, sign, word)] : said;
  }

  pages.register("trend", render, {
    title: "Summary",
    isHome: (report) => report.runs.length > 2,
    link: (report) => (report.runs.length > 2 ? [] : null),
  });
})(evalsReport);
