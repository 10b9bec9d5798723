// Charts, by Observable Plot. Colours are those of the page, so that they follow light and dark.
(function (app) {
  "use strict";

  const { el } = app.dom;
  const INK = "var(--ink)";
  const ACCENT = "var(--accent)";
  const FAINT = "var(--line)";

  const USUAL_MARGIN = 20;
  const BESIDE_TICK = 12;

  /** The texts of the ticks of an axis. */
  const ticks = (chart, axis) => [...chart.querySelectorAll(`[aria-label="${axis}-axis tick label"] text`)];

  /** Where a text of an axis stands from left to right. */
  function placeOf(tick) {
    const moved = tick.transform.baseVal.consolidate();
    return moved ? moved.matrix.e : 0;
  }

  /**
   * The options with margins that the numbers of both axes fit in, and with no more of them across than have room: how wide they are is known when the chart is drawn.
   */
  function roomy(chart, options) {
    const left = Math.max(0, ...ticks(chart, "y").map((tick) => widthOf(tick.textContent)));
    const across = ticks(chart, "x").map((tick) => ({ width: widthOf(tick.textContent), x: placeOf(tick) }));
    const right = Math.max(0, ...across.map(({ width, x }) => x + width / 2 - options.width));
    const marginLeft = Math.max(options.marginLeft || 0, Math.ceil(left) + BESIDE_TICK);
    const marginRight = (options.marginRight ?? USUAL_MARGIN) + Math.ceil(right);
    const room = options.width - marginLeft - marginRight;
    const most = Math.floor(room / (BESIDE_TICK + Math.max(1, ...across.map(({ width }) => width))));
    const x = options.x && options.x.ticks > most ? { ...options.x, ticks: Math.max(2, most) } : options.x;
    return { ...options, marginLeft, marginRight, x };
  }

  /** A chart with a description for those who do not see it. The class is the one whose style the policy allows. */
  function plot(description, given) {
    const labelled = given.x && given.x.label && given.marginBottom; // else underscores of the label are cut off below
    const options = labelled ? { ...given, x: { labelOffset: given.marginBottom - 6, ...given.x } } : given;
    const draw = (chosen) => Plot.plot({ className: "plot", ariaLabel: description, ...chosen });
    const chart = draw(roomy(draw(options), options));
    chart.setAttribute("role", "img");
    // The description is that of the whole; names of its parts ("rule", "dot") would be read out besides.
    chart.querySelectorAll("[aria-label]").forEach((part) => part.removeAttribute("aria-label"));
    chart.style.fontFamily = "inherit";
    chart.style.fontSize = "12px";
    return el("figure", { class: "chart" }, chart);
  }

  /** A width that the page has room for: text in a chart that is scaled down cannot be read. */
  function fitting(width) {
    return Math.min(width, document.documentElement.clientWidth - 28);
  }

  const WIDEST_NAME = 190;
  const pen = document.createElement("canvas").getContext("2d");

  /** How wide a text of a chart is drawn, in pixels. */
  function widthOf(text) {
    pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    return pen.measureText(text).width;
  }

  /** A name, cut where there is no room for all of it. */
  function fittingName(name) {
    let shown = name;
    while (widthOf(shown) > WIDEST_NAME) shown = `${shown.slice(0, -2)}…`;
    return shown;
  }

  /**
   * Values with their intervals, a line each: a dot on a rule.
   * @param {Array<{name: string, value: number, ci: number[]|null, shown: string}>} rows
   */
  function intervals(description, rows, { domain, label, unit, width = 540, dim = () => false }) {
    const left = 14 + Math.ceil(Math.max(...rows.map((row) => widthOf(fittingName(row.name)))));
    const below = label ? 38 : 26;
    const drawn = rows.filter((row) => row.ci);
    return plot(description, {
      width: fitting(width),
      height: 6 + below + 20 * rows.length,
      marginLeft: left,
      marginRight: 16,
      marginTop: 6,
      marginBottom: below,
      x: { domain, label, labelArrow: "none", labelOffset: below - 6, grid: true, nice: !domain, zero: !domain, ticks: 5, tickFormat: app.format.ticks(unit) },
      y: { domain: rows.map((row) => row.name), label: null, tickSize: 0, tickFormat: fittingName },
      marks: [
        Plot.ruleY(drawn, { y: "name", x1: (row) => row.ci[0], x2: (row) => row.ci[1], stroke: ACCENT, strokeWidth: 2 }),
        Plot.dot(rows, {
          y: "name",
          x: "value",
          r: 4,
          fill: (row) => (dim(row) ? "var(--bad)" : ACCENT),
          stroke: "var(--paper)",
          title: (row) => `${row.name}: ${row.shown}`,
        }),
      ],
    });
  }

  /** How many questions have which value. */
  function histogram(description, values, { label, domain, unit, width = 560 }) {
    const bins = d3.bin().domain(domain || d3.extent(values)).thresholds(20)(values);
    return plot(description, {
      width: fitting(width),
      height: 240,
      marginLeft: 40,
      marginTop: 28,
      marginBottom: 40,
      x: { label, labelArrow: "none", domain, nice: !domain, ticks: 6, tickFormat: app.format.ticks(unit) },
      y: { label: "questions", labelArrow: "none", grid: true, ticks: 4 },
      marks: [
        Plot.rectY(bins, { x1: "x0", x2: "x1", y: "length", fill: ACCENT, inset: 0.5 }),
        Plot.ruleY([0], { stroke: INK }),
      ],
    });
  }

  /** Points whose area says how many questions they are. */
  function scatter(description, dots, { x, y, title, width = 560 }) {
    return plot(description, {
      width: fitting(width),
      height: 360,
      marginLeft: 50,
      marginTop: 28,
      marginBottom: 40,
      grid: true,
      inset: 14,
      x: { ...x, labelArrow: "none", nice: !x.domain, ticks: 6 },
      y: { ...y, labelArrow: "none", nice: !y.domain, ticks: 6 },
      r: { range: [0, 16], domain: [0, Math.max(25, d3.max(dots, (dot) => dot.count))] },
      marks: [
        Plot.dot(dots, { x: "x", y: "y", r: "count", fill: (dot) => (2 * dot.failed > dot.count ? "var(--bad)" : ACCENT), fillOpacity: 0.65, stroke: "var(--paper)", title }),
      ],
    });
  }

  /** Amounts, a bar each, with their share of the first. */
  function bars(description, rows, { width = 620 } = {}) {
    return plot(description, {
      width: fitting(width),
      height: 8 + 30 * rows.length,
      marginLeft: 14 + Math.ceil(Math.max(...rows.map((row) => widthOf(row.name)))),
      marginRight: 90,
      marginBottom: 4,
      marginTop: 4,
      x: { axis: null },
      y: { domain: rows.map((row) => row.name), label: null, tickSize: 0 },
      marks: [
        Plot.barX(rows, { y: "name", x: "count", fill: ACCENT }),
        Plot.text(rows, { y: "name", x: "count", text: (row) => `${row.count} (${row.share})`, dx: 6, textAnchor: "start", fill: INK }),
        Plot.ruleX([0], { stroke: FAINT }),
      ],
    });
  }

  /** A line through points. */
  function line(description, points, { x, y, xLabel, yLabel, width = 420 }) {
    return plot(description, {
      width: fitting(width),
      height: 220,
      x: { label: xLabel, labelArrow: "none", domain: [0, 1] },
      y: { label: yLabel, labelArrow: "none", grid: true, zero: true },
      marks: [Plot.line(points, { x, y, stroke: ACCENT, strokeWidth: 2 }), Plot.ruleY([0], { stroke: INK })],
    });
  }

  app.charts = { plot, fitting, widthOf, intervals, histogram, scatter, bars, line };
})(evalsReport);
