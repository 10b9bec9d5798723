// One question in two runs: answers with differences marked, and retrieved chunks, side by side.
(function (app) {
  "use strict";

  const { dom, pages } = app;
  const { el, foreign, section, table } = dom;

  async function render(place, context) {
    const [first, last, asked] = context.args;
    const { questions, runs } = await app.compare.compared(first, last);
    const number = Number(asked) - 1;
    if (!(number >= 0 && number < questions.ids.length)) throw new Error(`there is no changed question ${asked}`);
    const both = await Promise.all([detail(first, questions.first[number]), detail(last, questions.last[number])]);
    if (!context.isCurrent()) return;
    place.append(steps(context.args, questions), el("h2", {}, foreign(both[0].id)), ...sections(both, runs.map((run) => run.label)));
  }

  async function detail(id, number) {
    const { perBlock } = await app.blocks.get(`${id}/questions`);
    const block = await app.blocks.get(`${id}/details/${Math.floor(number / perBlock)}`);
    return block[number % perBlock];
  }

  function steps([first, last, asked], questions) {
    const to = (place, text, rel) => (place >= 1 && place <= questions.ids.length ? el("a", { href: pages.address("beside", [first, last, String(place)]), rel }, text) : null);
    return el(
      "nav",
      { class: "steps", "aria-label": "Questions" },
      el("a", { href: pages.address("compare", [first, last]) }, "all changes"),
      to(Number(asked) - 1, "previous", "prev"),
      to(Number(asked) + 1, "next", "next"),
      el("span", { class: "faint" }, `${asked} of ${questions.ids.length}`),
    );
  }

  function sections(both, labels) {
    const [before, after] = both;
    const answers = app.words.beside(answered(before), answered(after));
    const columns = (inside) => el("div", { class: "sides" }, inside.map((each, place) => el("div", { class: "side" }, el("h4", {}, labels[place]), each)));
    return [
      section("Question", { class: "asked" }, app.question.block("", before.question)),
      section("Expected answer", { class: "expected" }, app.question.expected(before)),
      section("Answer", { class: "answer" }, columns([[ended(before), answers.first], [ended(after), answers.last]]), answers.note ? el("p", { class: "faint small" }, answers.note) : legend(labels)),
      section("Retrieved chunks", { class: "retrieved" }, columns([chunks(before, after, labels[1]), chunks(after, before, labels[0])])),
      section("Metrics", { class: "measured" }, scores(before, after, labels)),
    ].filter(Boolean);
  }

  const answered = (data) => data.answer.map((piece) => piece.text).join("");

  const legend = ([a, b]) => el("p", { class: "faint small" }, el("del", {}, `only in ${a}`), " ", el("ins", {}, `only in ${b}`));

  function ended(data) {
    const notes = data.notes.map((note) => el("p", { class: "note" }, foreign(note)));
    const link = data.broken ? el("p", { class: `broken ${data.broken.failure ? "wrong" : "right"}` }, el("strong", {}, data.broken.label), ": ", foreign(data.broken.explanation)) : el("p", { class: "broken right" }, "No failure was found.");
    return [link, ...notes];
  }

  function chunks(data, other, label) {
    if (data.chunks === null) return el("p", { class: "faint" }, "the server sent no chunks");
    if (!data.chunks.length) return el("p", { class: "faint" }, "nothing was retrieved");
    const ranks = new Map((other.chunks || []).map((chunk, place) => [textOf(chunk), place + 1]).reverse());
    return el("ol", { class: "chunks" }, data.chunks.map((chunk, place) => one(chunk, place, ranks.get(textOf(chunk)), label)));
  }

  const textOf = (chunk) => chunk.text.map(([text]) => text).join("");

  function one(chunk, place, rank, label) {
    const where = rank === undefined ? el("span", { class: "tag only" }, `not in ${label}`) : rank === place + 1 ? null : el("span", { class: "tag" }, `rank ${rank} in ${label}`);
    return el(
      "li",
      { class: chunk.golds.length ? "chunk hit" : "chunk" },
      el("p", { class: "where" }, el("span", { class: "rank" }, String(place + 1)), " ", foreign(chunk.place), " ", chunk.golds.map(([gold]) => el("span", { class: "tag good" }, `gold ${gold}`)), where),
      el("div", { class: "text", dir: "auto" }, chunk.text.map(([text, isGold]) => (isGold ? el("mark", {}, text) : text))),
    );
  }

  function scores(before, after, labels) {
    const other = new Map(after.scores.map((score) => [score.name, score]));
    const names = [...new Set([...before.scores, ...after.scores].map((score) => score.name))];
    const own = new Map(before.scores.map((score) => [score.name, score]));
    const shown = (score) => (score ? score.shown : "–");
    const rows = names.map((name) => ({ cells: [name, shown(own.get(name)), shown(other.get(name))], kind: shown(own.get(name)) === shown(other.get(name)) ? "same" : "differs" }));
    return rows.length ? table("Metrics of this question", ["metric", ...labels], rows) : null;
  }

  /** A page further along the questions that changed. */
  function step(by) {
    return ({ args: [first, last, asked] }) => {
      const link = document.querySelector(`.steps a[rel="${by > 0 ? "next" : "prev"}"]`);
      if (link) location.hash = pages.address("beside", [first, last, String(Number(asked) + by)]);
    };
  }

  pages.register("beside", render, {
    title: "Side by side",
    keys: {
      ArrowLeft: { does: "previous question", act: step(-1) },
      ArrowRight: { does: "next question", act: step(1) },
      Escape: { does: "back to the comparison", act: ({ args }) => (location.hash = pages.address("compare", args.slice(0, 2))) },
    },
  });
})(evalsReport);
