// A run in progress: what its log says, every second and a half.
(function (app) {
  "use strict";

  const { dom, pages, server } = app;
  const { el, foreign } = dom;
  const EVERY_S = 1.5;
  const QUIET_S = 60;

  /** How far a run is, in one line. */
  function inShort(progress) {
    const errors = progress.errors.reduce((sum, one) => sum + one.count, 0);
    return [
      `${progress.asked} of ${progress.total} asked`,
      errors ? `${errors} failed` : null,
      progress.verdicts ? `${progress.verdicts} verdicts` : null,
    ].filter(Boolean).join(", ");
  }

  function since(progress) {
    const quiet = Math.round(progress.quiet_s);
    const ago = quiet < QUIET_S ? `${quiet} s ago` : `${Math.round(quiet / 60)} min ago`;
    return progress.quiet_s < QUIET_S ? `last event ${ago}` : `last event ${ago}: the run may have been stopped`;
  }

  function bar(progress) {
    const name = "Questions asked";
    return el("progress", { max: String(Math.max(1, progress.total)), value: String(progress.asked), "aria-label": name });
  }

  function facts(progress) {
    const rows = [
      ["asked", `${progress.asked} of ${progress.total}`],
      ["answered", String(progress.answered)],
      ...progress.errors.map((one) => [`failed: ${one.kind}`, String(one.count)]),
      ...progress.values.map((one) => [one.name, `${one.shown} (${one.n})`]),
      progress.verdicts ? ["verdicts", `${progress.verdicts}${progress.lostVerdicts ? `, ${progress.lostVerdicts} lost` : ""}`] : null,
      progress.spent ? ["judge so far", progress.spent] : null,
    ];
    return el("dl", { class: "facts-now" }, rows.filter(Boolean).map(([name, said]) => el("div", {}, el("dt", {}, name), el("dd", {}, foreign(said)))));
  }

  function section(context) {
    const place = el("div", {});
    const made = el("section", { class: "live" }, el("h3", {}, "In progress"), place);
    const look = async () => {
      try {
        const progress = await server.get(`api/runs/${context.id}/progress`);
        if (!context.isCurrent()) return;
        if (progress.finished) return location.reload();
        if (progress.quiet_s < QUIET_S) document.querySelectorAll("#page .score.none").forEach((one) => one.remove());
        place.replaceChildren(bar(progress), facts(progress), el("p", { class: "faint" }, `${since(progress)}; all metrics follow at the end`));
      } catch (error) {
        place.replaceChildren(el("p", { class: "error", role: "alert" }, error.message));
      }
    };
    server.repeat(EVERY_S, context.isCurrent, look);
    return made;
  }

  pages.part("overview", "live", (data, context) => (data.scored ? null : section(context)));
  app.live = { inShort, since, bar, QUIET_S };
})(evalsReport);
