// Numbers by their unit, as the command line shows them (evals/views/formatting.py).
(function (app) {
  "use strict";

  const fixed = {
    percent: (value) => `${value.toFixed(1)} %`,
    "tokens/s": (value) => `${value.toFixed(1)}/s`,
    ms: (value) => (value >= 10000 ? `${(value / 1000).toFixed(2)} s` : `${value.toFixed(1)} ms`),
    USD: (value) => (value === 0 ? "$0" : `$${value.toFixed(value < 0.1 ? 5 : 3)}`),
    answers: (value) => value.toFixed(Number.isInteger(value) ? 0 : 1),
  };

  /** A value with its unit; a dash for none. */
  function number(value, unit) {
    if (value === null || value === undefined) return "–";
    return (fixed[unit] || ((other) => other.toFixed(3)))(value);
  }

  app.format = { number };
})(evalsReport);
