// The questions that fared differently: regressions first, then improvements.
(function (app) {
  "use strict";

  const { dom, pages } = app;
  const { el, foreign, section } = dom;
  const ROW = 56;
  const SHOWN = 2;

  pages.part("compare", "questions", (data, context) => {
    const { questions } = data;
    const filter = Object.fromEntries(["words", "way", "metric", "links"].map((key) => [key, context.query.get(key) || ""]));
    const counted = el("p", { class: "counted", role: "status" });
    let places = [];
    const list = app.virtual.list((place) => row(questions, places[place], context), ROW);
    const refresh = () => {
      places = chosen(questions, filter);
      counted.textContent = `${places.length} of ${questions.ids.length} questions; ${questions.said.join(", ")}`;
      list.fill(places.length);
      const kept = Object.entries(filter).filter(([, value]) => value);
      history.replaceState(null, "", pages.address("compare", [context.first, context.last], kept));
    };
    if (!questions.ids.length) return section("Questions that fared differently", {}, el("p", {}, "No question scored differently."));
    requestAnimationFrame(refresh);
    return section("Questions that fared differently", { class: "changes" }, form(questions, filter, refresh), counted, list.element);
  });

  function chosen(questions, filter) {
    const words = filter.words.toLowerCase().split(/\s+/).filter(Boolean);
    const metric = questions.metrics.indexOf(filter.metric);
    return d3.range(questions.ids.length).filter(
      (place) =>
        (!filter.way || (filter.way === "lost") === (place < questions.lost)) &&
        (metric < 0 || questions.moved[place].some(([moved]) => moved === metric)) &&
        (!filter.links || linked(questions.links[place]) === filter.links) &&
        words.every((word) => `${questions.ids[place]}\n${questions.questions[place]}`.toLowerCase().includes(word)),
    );
  }

  const linked = (links) => (links ? links.join(" → ") : "");

  function row(questions, place, context) {
    const lost = place < questions.lost;
    const address = pages.address("beside", [context.first, context.last, String(place + 1)]);
    return el(
      "div",
      { class: `row change ${lost ? "wrong" : "gained"}`, role: "listitem" },
      el(
        "a",
        { href: address },
        el("span", { class: "id" }, foreign(questions.ids[place])),
        el("span", { class: "text" }, foreign(questions.questions[place])),
        el("span", { class: "said" }, why(questions, place)),
        el("span", { class: "value" }, `${lost ? "▼" : "▲"} ${questions.shown[place]}`),
      ),
    );
  }

  /** What explains the change: a note, then the metrics that moved most. */
  function why(questions, place) {
    const moved = questions.moved[place];
    const some = moved.slice(0, SHOWN).map(([metric, before, after]) => `${questions.metrics[metric]} ${before.toFixed(2)} → ${after.toFixed(2)}`);
    const rest = moved.length > SHOWN ? [`${moved.length - SHOWN} more`] : [];
    return [questions.notes[place], ...some, ...rest].filter(Boolean).join(", ");
  }

  function form(questions, filter, refresh) {
    const field = (key, label, control) => el("label", { class: `field ${key}` }, el("span", {}, label), control);
    const set = (key) => (event) => {
      filter[key] = event.target.value;
      refresh();
    };
    const choice = (key, label, options) =>
      field(key, label, el("select", { onchange: set(key) }, options.map(([value, text]) => el("option", { value, selected: value === filter[key] }, text))));
    const moves = d3.rollups(questions.links.filter(Boolean), (all) => all.length, linked);
    const named = (links) => links.split(" → ").map((link) => questions.labels[link] || link).join(" → ");
    return el(
      "form",
      { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
      field("words", "Search", el("input", { type: "search", value: filter.words, placeholder: "id, question", autocomplete: "off", oninput: set("words") })),
      choice("way", "Show", [["", "all"], ["lost", `regressions (${questions.lost})`], ["gained", `improvements (${questions.ids.length - questions.lost})`]]),
      choice("metric", "Metric that moved", [["", "any"], ...questions.metrics.map((name) => [name, name])]),
      moves.length ? choice("links", "First broken link", [["", "any"], ...moves.map(([links, count]) => [links, `${named(links)} (${count})`])]) : null,
    );
  }
})(evalsReport);
