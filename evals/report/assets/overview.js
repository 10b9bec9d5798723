// The overview of a run: what is said of all its questions together.
(function (app) {
  "use strict";

  const { dom, charts, pages } = app;
  const { el, foreign, section, table, tableOf } = dom;

  async function render(place, context) {
    const id = context.args[0] || context.report.runs[0].id;
    const data = await app.blocks.get(`${id}/overview`);
    if (!context.isCurrent()) return;
    const head = document.querySelector(`#static section.run[data-run="${CSS.escape(id)}"]`);
    if (head) {
      app.scorecard.draw(head, data.scorecard);
      place.append(head.cloneNode(true));
    }
    place.append(...pages.sections("overview", data, { ...context, id }));
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

  pages.part("overview", "funnel", (data, context) => {
    if (!data.funnel || !data.funnel[0].count) return null;
    const rows = data.funnel.map((stage) => ({ name: stage.stage, count: stage.count, says: stage.says }));
    const broken = data.funnel.flatMap((stage) => stage.links.map((link) => ({ ...link, before: stage.stage })));
    return section(
      "Where questions went wrong first",
      { class: "funnel" },
      charts.bars(`Funnel: ${rows.map((row) => `${row.name} ${row.count}`).join(", ")}`, rows, {}),
      broken.length
        ? table(
            "First broken links",
            ["link", "before", "questions", "share", "interval"],
            broken.map((link) => ({
              cells: [
                questions(context.id, { failure: link.link }, link.label),
                link.before,
                String(link.count),
                percent(link.share),
                `${percent(link.interval[0])} … ${percent(link.interval[1])}`,
              ],
            })),
          )
        : el("p", {}, "No question is known to have ended wrong."),
      el("ul", { class: "lines" }, data.links.slice(broken.length).map((line) => el("li", {}, line))),
    );
  });

  pages.part("overview", "slices", (data, context) =>
    section(
      "Slices, the worst first",
      { class: "slices" },
      (data.slices || []).map((slice) => {
        const rows = slice.values;
        const shown = rows.slice(0, 15);
        return el(
          "div",
          { class: "slice" },
          el("h4", {}, "by ", foreign(slice.key)),
          charts.intervals(`Share that ended wrong by ${slice.key}: ${shown.map((row) => row.shown).join("; ")}`, shown, {
            domain: [0, 1],
            label: "share that ended wrong",
            dim: (row) => row.worse,
          }),
          el(
            "details",
            {},
            el("summary", {}, `${rows.length} values in words`),
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
          "Risk by coverage",
          { class: "risk" },
          charts.line(data.risk.line, data.risk.points, { x: "coverage", y: "risk", xLabel: "coverage", yLabel: "risk" }),
          el("p", {}, data.risk.line),
        )
      : null,
  );

  pages.part("overview", "stages", (data) => section("Retrieval by stage", { class: "stages" }, (data.stages || []).map(tableOf)));

  pages.part("overview", "cost", (data) =>
    section("Cost", { class: "cost" }, data.cost.map((line) => el("p", {}, foreign(line)))),
  );

  pages.part("overview", "judge", (data) =>
    section("The judge", { class: "judge" }, data.judge.map((line) => el("p", {}, foreign(line)))),
  );

  pages.part("overview", "hints", (data) =>
    section(
      "What this usually means",
      { class: "hints" },
      data.hints.map((hint) => el("p", {}, hint.text, " ", el("span", { class: "faint" }, `(${hint.evidence})`))),
    ),
  );

  function percent(share) {
    return `${(100 * share).toFixed(0)} %`;
  }

  pages.register("overview", render, {
    title: "Overview",
    links: (report) =>
      report.runs.map((run, place) => ({
        title: report.runs.length > 1 ? `Overview of ${run.name}` : "Overview",
        short: pages.letter(place, report.runs.length),
        args: [run.id],
      })),
  });
})(evalsReport);
