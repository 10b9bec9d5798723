// Numbers by their unit, as the command line shows them (evals/report/wording.py).
(function (app) {
  "use strict";

  const fixed = {
    percent: (value) => `${value.toFixed(1)} %`,
    "tokens/s": (value) => `${value.toFixed(1)}/s`,
    ms: (value) => (value >= 10000 ? `${(value / 1000).toFixed(2)} s` : `${value.toFixed(1)} ms`),
    USD: money,
    answers: (value) => value.toFixed(Number.isInteger(value) ? 0 : 1),
  };

  /** US dollars, those below ten cents with four significant digits. */
  function money(value) {
    const size = Math.abs(value);
    if (size >= 0.1) return `$${value.toFixed(3)}`;
    if (size < 0.5e-10) return "$0";
    return `$${value.toFixed(Math.min(10, Math.max(5, 3 - Math.floor(Math.log10(size)))))}`;
  }

  /** A value with its unit; a dash for none. */
  function number(value, unit) {
    if (value === null || value === undefined) return "–";
    return (fixed[unit] || ((other) => other.toFixed(3)))(value);
  }

  const AXES = { ratio: "score, 0 to 1", percent: "%", ms: "milliseconds", USD: "US dollars", "tokens/s": "tokens per second" };

  /** What an axis says of its unit. */
  function axis(unit) {
    return AXES[unit] || unit;
  }

  /** How the numbers of an axis are written: money as elsewhere, for the rest as the chart library does. */
  const ticks = (unit) => (unit === "USD" ? (value) => number(value, unit) : undefined);

  app.format = { number, axis, ticks };
})(evalsReport);
