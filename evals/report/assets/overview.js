// The overview of a run: what is said of all its questions together.
(function (app) {
  "use strict";

  const { dom, charts, pages } = app;
  const { el, foreign, section, table, tableOf } = dom;

  async function render(place, context) {
    const id = pages.run(context);
    const [data, columns] = await Promise.all(["overview", "questions"].map((name) => app.blocks.get(`${id}/${name}`)));
    if (!context.isCurrent()) return;
    const head = document.querySelector(`#static section.run[data-run="${CSS.escape(id)}"]`);
    place.append(...[pages.runChoice(context.report, "Run", id, (other) => (location.hash = pages.address("overview", [other])))].filter(Boolean));
    if (head) {
      app.scorecard.draw(head, data.scorecard);
      place.append(head.cloneNode(true));
    }
    place.append(...pages.sections("overview", data, { ...context, id, columns }));
  }

  const questions = (id, query, text) => el("a", { href: pages.address("questions", [id], query) }, text);

  pages.part("overview", "gates", (data) =>
    section(
      "Gates",
      { class: "gates" },
      data.gates.map((gate) =>
        el("p", { class: `gate ${gate.outcome.replaceAll(" ", "-")}` }, el("code", {}, gate.gate), ` ${gate.outcome}: `, foreign(gate.message)),
      ),
    ),
  );

  const STAGES = [
    ["answered", "answered"],
    ["retrieved", "gold retrieved"],
    ["used", "gold used"],
    ["right", "no failure found"],
  ];

  /** The stages that the questions with gold passages reach; null where no question has any. */
  function funnel(data, columns) {
    const stages = new Map(data.failures.map((failure) => [failure.link, failure.stage]));
    const golden = d3.range(columns.count).filter((number) => columns.golds[number] && columns.errors[number] !== "not asked");
    if (!golden.length) return null;
    const lost = d3.rollup(golden, (all) => all.length, (number) => stages.get(columns.links[number]));
    const rows = [{ name: "questions with gold", count: golden.length }];
    for (const [stage, name] of STAGES) rows.push({ name, count: rows.at(-1).count - (lost.get(stage) || 0) });
    for (const row of rows) row.share = percent(row.count / golden.length);
    const others = columns.count - golden.length;
    const said = `Funnel: ${rows.map((row) => `${row.name} ${row.count}`).join(", ")}`;
    return [charts.bars(said, rows), others ? el("p", { class: "faint small" }, `${others} questions without gold passages are not in this chart.`) : null];
  }

  pages.part("overview", "failures", (data, { id, columns }) =>
    section(
      "First failures",
      { class: "funnel" },
      data.failures ? funnel(data, columns) : null,
      data.failures && data.failures.length
        ? table(
            "All questions by the first step that failed",
            ["failure", "questions", "share", "confidence interval"],
            data.failures.map((failure) => ({
              cells: [questions(id, { failure: failure.link }, failure.label), String(failure.count), percent(failure.share), `${percent(failure.interval[0])} … ${percent(failure.interval[1])}`],
            })),
          )
        : data.failures && el("p", {}, "No failures were found."),
      data.links && data.links.length ? el("ul", { class: "lines" }, data.links.map((line) => el("li", {}, line))) : null,
    ),
  );

  pages.part("overview", "slices", (data, context) =>
    section(
      "Slices, worst first",
      { class: "slices" },
      (data.slices || []).map((slice) => {
        const rows = slice.values;
        const shown = rows.slice(0, 15);
        return el(
          "div",
          { class: "slice" },
          el("h4", {}, "by ", foreign(slice.key)),
          charts.intervals(`Share of questions that failed by ${slice.key}: ${shown.map((row) => row.shown).join("; ")}`, shown, {
            domain: [0, 1],
            label: "share of questions that failed",
            dim: (row) => row.worse,
          }),
          el(
            "details",
            {},
            el("summary", {}, `${rows.length} values as text`),
            el(
              "ul",
              { class: "lines" },
              rows.map((row) => el("li", {}, questions(context.id, { slice: `${slice.key}=${row.name}` }, foreign(row.shown)))),
            ),
          ),
        );
      }),
    ),
  );

  pages.part("overview", "abstention", (data) => section("Abstention", { class: "abstention" }, (data.abstention || []).map(tableOf)));

  pages.part("overview", "risk", (data) =>
    data.risk
      ? section(
          "Risk and coverage",
          { class: "risk" },
          charts.line(data.risk.line, data.risk.points, { x: "coverage", y: "risk", xLabel: "coverage, 0 to 1", yLabel: "risk, 0 to 1" }),
          el("p", {}, data.risk.line),
        )
      : null,
  );

  pages.part("overview", "stages", (data) => section("Retrieval by stage", { class: "stages" }, (data.stages || []).map(tableOf)));

  pages.part("overview", "cost", (data) =>
    section("Cost", { class: "cost" }, data.cost.map((line) => el("p", {}, foreign(line)))),
  );

  pages.part("overview", "judge", (data) =>
    section("Judge", { class: "judge" }, data.judge.map((line) => el("p", {}, foreign(line)))),
  );

  pages.part("overview", "hints", (data) =>
    section(
      "Likely causes",
      { class: "hints" },
      data.hints.map((hint) => el("p", {}, hint.text, " ", el("span", { class: "faint" }, `(${hint.evidence})`))),
    ),
  );

  function percent(share) {
    return `${(100 * share).toFixed(0)} %`;
  }

  pages.register("overview", render, { title: "Overview", link: (report) => (report.runs.length ? [] : null) });
})(evalsReport);
