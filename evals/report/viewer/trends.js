// Score and main metrics by run: a small line each.
(function (app) {
  "use strict";

  const { dom, charts, server } = app;
  const { el, foreign } = dom;
  const WIDTH = 132;
  const HEIGHT = 36;
  const narrow = window.matchMedia("(max-width: 40rem)");

  function line(course) {
    const points = course.points.map((point, place) => ({ ...point, place }));
    const last = points[points.length - 1];
    const said = `${course.name} over ${points.length} runs, from ${points[0].shown} to ${last.shown}`;
    return charts.plot(said, {
      width: WIDTH,
      height: HEIGHT,
      margin: 5,
      axis: null,
      marks: [
        Plot.line(points, { x: "place", y: "value", stroke: "var(--accent)", strokeWidth: 1.5 }),
        Plot.dot(points, { x: "place", y: "value", r: 2, fill: "var(--accent)", title: (one) => `${one.created}  ${one.run}: ${one.shown}` }),
        Plot.dot([last], { x: "place", y: "value", r: 3.5, fill: "var(--ink)" }),
      ],
    });
  }

  function card(course) {
    const last = course.points[course.points.length - 1];
    return el(
      "div",
      { class: "trend" },
      el("div", { class: "trend-name" }, `${course.name} ${course.arrow}`),
      line(course),
      el("a", { class: "trend-last", href: `${server.root}runs/${last.run}/`, title: `run ${last.run}` }, last.shown),
    );
  }

  /** The courses of each choice of datasets; the first is open. */
  function section(trends) {
    const groups = trends.filter((trend) => trend.metrics.length);
    if (!groups.length) return null;
    return el(
      "section",
      { class: "trends", "aria-label": "Trends" },
      groups.map((trend, place) =>
        el(
          "details",
          { open: place === 0 && !narrow.matches },
          el("summary", {}, "Trends: ", foreign(trend.datasets)),
          el("div", { class: "trend-cards" }, trend.metrics.map(card)),
        ),
      ),
    );
  }

  app.trends = { section };
})(evalsReport);
