// Metrics without a value, and the configuration.
(function (app) {
  "use strict";

  const { dom, pages } = app;
  const { el, foreign, section, tableOf } = dom;

  pages.part("overview", "not measured", (data) =>
    data.notMeasured.rows.length
      ? section(
          "Not measured",
          { class: "not-measured" },
          tableOf(data.notMeasured),
        )
      : null,
  );

  pages.part("overview", "configuration", (data) =>
    section(
      "Configuration",
      { class: "configuration" },
      data.configuration.map((part) =>
        el("details", {}, el("summary", {}, part.title), el("pre", { dir: "auto", tabindex: "0" }, part.text)),
      ),
    ),
  );
})(evalsReport);
