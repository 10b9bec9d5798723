// One question whole.
(function (app) {
  "use strict";

  const { dom, pages } = app;
  const { el, foreign, section, table } = dom;

  async function render(place, context) {
    const [id, asked] = [pages.run(context), context.args[1]];
    const columns = await app.blocks.get(`${id}/questions`);
    const number = Number(asked) - 1;
    if (!(number >= 0 && number < columns.count)) throw new Error(`there is no question ${asked}`);
    const block = await app.blocks.get(`${id}/details/${Math.floor(number / columns.perBlock)}`);
    if (!context.isCurrent()) return;
    const data = block[number % columns.perBlock];
    place.append(steps(id, number, columns), el("h2", {}, foreign(data.id)), ...whole(data));
  }

  function steps(id, number, columns) {
    const step = (to, text, rel) =>
      to >= 0 && to < columns.count ? el("a", { href: pages.address("question", [id, String(to + 1)]), rel }, text) : null;
    return el(
      "nav",
      { class: "steps", "aria-label": "Questions" },
      el("a", { href: pages.address("questions", [id]) }, "all questions"),
      step(number - 1, "previous", "prev"),
      step(number + 1, "next", "next"),
    );
  }

  /** All that is known of a question; used by whatever shows one. */
  function whole(data) {
    return [
      el("p", { class: "about" }, data.about.map(([key, value]) => el("span", { class: "tag" }, foreign(key), ": ", foreign(value)))),
      broken(data.broken),
      section("Earlier turns", { class: "before" }, data.before.flatMap(([said, answer]) => [block("you", said), block("server", answer)])),
      section("Question", { class: "asked" }, block("", data.question)),
      section("Expected answer", { class: "expected" }, expected(data)),
      section("Answer", { class: "answer" }, answer(data)),
      section("Retrieved chunks", { class: "retrieved" }, chunks(data)),
      section("Citations", { class: "citations" }, citations(data)),
      section("Metrics", { class: "measured" }, data.scores.length ? scores(data) : null),
      section("Judge", { class: "judged" }, data.judge.map(verdict)),
      section("Request", { class: "exchange" }, data.exchange.length ? el("p", {}, data.exchange.map(([key, value]) => el("span", { class: "tag" }, `${key}: `, foreign(value)))) : null),
    ].filter(Boolean);
  }

  function block(label, text) {
    return el("div", { class: "text", dir: "auto" }, label ? el("span", { class: "who" }, `${label}: `) : null, text);
  }

  function broken(found) {
    if (!found) return null;
    return el(
      "p",
      { class: `broken ${found.failure ? "wrong" : "right"}` },
      el("strong", {}, found.label),
      ": ",
      foreign(found.explanation),
      found.remarks.map((remark) => [el("br"), foreign(remark)]),
    );
  }

  function expected(data) {
    const golds = data.golds.map((gold, place) =>
      el(
        "div",
        { class: "gold" },
        el("p", { class: "where" }, `gold passage ${place + 1} `, foreign(gold.where), gold.rank ? ` – at rank ${gold.rank}, matched by rule "${gold.rule}"` : " – not found in any chunk"),
        gold.text ? el("div", { class: "text", dir: "auto" }, gold.text) : null,
      ),
    );
    return [
      data.unanswerable ? el("p", {}, "The documents do not answer this question: the right reaction is to decline.") : null,
      data.expected === null ? (data.unanswerable ? null : el("p", { class: "faint" }, "no expected answer")) : block("", data.expected),
      ...golds,
    ];
  }

  const KINDS = {
    supported: "supported by its citations",
    unsupported: "not supported by its citations",
    cannot_tell: "the judge could not tell",
    invalid: "cites a chunk that was not retrieved",
    cited: "with a citation",
    uncited: "without a citation",
  };

  const kindOf = (piece) => piece.verdict || (piece.invalid ? "invalid" : piece.cited.length ? "cited" : "uncited");

  function answer(data) {
    const pieces = data.answer.map((piece) => {
      if (!("cited" in piece)) return piece.text;
      const cites = piece.cited.length ? `cites ${piece.cited.join(", ")}` : piece.invalid ? "" : "cites nothing";
      const title = [cites, piece.invalid ? KINDS.invalid : "", KINDS[piece.verdict] || ""].filter(Boolean).join("; ");
      return el("span", { class: `sentence ${kindOf(piece)}`, title }, piece.text, el("span", { class: "hidden" }, ` (${title}) `));
    });
    const kinds = new Set(data.answer.filter((piece) => "cited" in piece).map(kindOf));
    return [
      ...data.notes.map((note) => el("p", { class: "note" }, foreign(note))),
      pieces.length ? el("div", { class: "text", dir: "auto" }, pieces) : null,
      kinds.size ? el("p", { class: "legend faint" }, [...kinds].map((kind) => el("span", { class: `sentence ${kind}` }, KINDS[kind]))) : null,
    ];
  }

  function chunks(data) {
    if (data.chunks === null) return el("p", { class: "faint" }, "the server sent no chunks");
    if (!data.chunks.length) return el("p", { class: "faint" }, "nothing was retrieved");
    return el(
      "ol",
      { class: "chunks" },
      data.chunks.map((chunk, place) =>
        el(
          "li",
          { class: chunk.golds.length ? "chunk hit" : "chunk" },
          el(
            "p",
            { class: "where" },
            el("span", { class: "rank" }, String(place + 1)),
            " ",
            foreign(chunk.place),
            " ",
            chunk.golds.map(([gold, rule]) => el("span", { class: "tag good" }, `gold ${gold}, by "${rule}"`)),
            chunk.cited ? el("span", { class: "tag" }, "cited") : null,
            chunk.repeats ? el("span", { class: "tag" }, `repeats ${chunk.repeats}`) : null,
            chunk.score === null ? null : el("span", { class: "faint" }, ` score ${chunk.score}`),
          ),
          el("div", { class: "text", dir: "auto" }, chunk.text.map(([text, isGold]) => (isGold ? el("mark", {}, text) : text))),
        ),
      ),
    );
  }

  function citations(data) {
    if (data.citations === null) return el("p", { class: "faint" }, "the server sends no citations");
    if (!data.citations.length) return el("p", { class: "faint" }, "the answer has no citations");
    return el(
      "ul",
      { class: "lines" },
      data.citations.map((one) => {
        const where = one.ranks.length ? `rank ${one.ranks.join(", ")}` : "not a retrieved chunk";
        return el("li", {}, where, one.sections.length ? [" – ", foreign(one.sections.join(", "))] : null, one.gold ? [" ", el("span", { class: "tag good" }, "contains a gold passage")] : null);
      }),
    );
  }

  function scores(data) {
    return table(
      "Metrics of this question",
      ["metric", "value", "details"],
      data.scores.map((score) => ({ cells: [score.name, score.shown, foreign(score.reason || score.details)] })),
    );
  }

  function verdict(one) {
    const title = `${one.request}${one.repeat ? `, repeat ${one.repeat + 1}` : ""}`;
    return el(
      "details",
      { class: "verdict", open: true },
      el("summary", {}, title, " ", one.reply && one.reply.verdict ? label(one.reply.verdict) : null, one.failure ? el("span", { class: "tag bad" }, one.failure) : null),
      one.message ? el("p", { class: "note" }, foreign(one.message)) : null,
      one.suspected ? el("p", { class: "note" }, "the text contains instructions to the judge") : null,
      one.ranks.length ? el("p", { class: "faint" }, `ids are ranks; the judge saw the chunks in the order ${one.ranks.join(", ")}, and its sentences number them in that order`) : null,
      one.reply ? reply(one.reply, one.claims) : null,
    );
  }

  function label(text) {
    const good = ["supported", "correct", "conveyed", "relevant", "yes"].includes(text);
    const bad = ["unsupported", "contradicted", "incorrect", "missing", "irrelevant", "not_said"].includes(text);
    return el("span", { class: `tag ${good ? "good" : bad ? "bad" : ""}` }, foreign(text));
  }

  function reply(value, claims) {
    if (value === null || typeof value !== "object") return foreign(value);
    if (Array.isArray(value)) return el("ol", { class: "items" }, value.map((item) => el("li", {}, reply(item, claims))));
    const named = claims[value.id - 1];
    return el("div", { class: "item" }, named ? el("p", {}, foreign(named)) : null, Object.entries(value).map(([key, item]) => entry(key, item, claims)));
  }

  function entry(key, item, claims) {
    if (key === "verdict") return label(item);
    if (key === "quote") return item ? el("blockquote", { dir: "auto" }, item) : null;
    if (key === "justification" || key === "claim") return el("p", { dir: "auto" }, item);
    if (key === "id" && claims[item - 1]) return null;
    return el("div", { class: "pair" }, el("span", { class: "faint" }, foreign(key), " "), reply(item, claims));
  }

  app.question = { whole, block, expected };
  /** Follow a link to the question before or after. */
  const along = (rel) => () => document.querySelector(`.steps a[rel="${rel}"]`)?.click();

  pages.register("question", render, {
    title: "Question",
    keys: {
      ArrowLeft: { does: "previous question", act: along("prev") },
      ArrowRight: { does: "next question", act: along("next") },
      Escape: { does: "back to the previous page", act: () => history.back() },
    },
  });
})(evalsReport);
