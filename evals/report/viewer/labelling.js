// Labels by keyboard: an answer at a time, in the order of `evals review`, and each label saved at once.
(function (app) {
  "use strict";

  const { dom, pages, server, keys } = app;
  const { el, foreign } = dom;
  const AT_FIRST = 5;
  const LENGTH = 600;

  async function render(place, context) {
    const run = context.args[0] || "";
    const found = await server.get(`api/runs/${server.segment(run)}/labels`);
    if (!context.isCurrent()) return;
    const state = { run, ...found, at: 0, whole: false, isCurrent: context.isCurrent };
    state.parts = Object.fromEntries(["progress", "said", "answer", "questions"].map((name) => [name, el("div", { class: `label-${name}` })]));
    state.parts.said.setAttribute("aria-live", "polite");
    state.note = el("input", { id: "note", type: "text", autocomplete: "off", maxlength: "5000" });
    state.note.addEventListener("change", () => renote(state));
    state.note.addEventListener("keydown", (event) => ["Enter", "Escape"].includes(event.key) && state.note.blur());
    place.append(el("h2", {}, "Label run ", el("code", {}, run)), ...page(state));
    if (!state.ids.length) return;
    keys.on(context, (event) => onKey(event, state));
    state.at = Math.max(0, state.ids.findIndex((id) => !isDone(state, id)));
    await show(state);
  }

  function page(state) {
    if (!state.ids.length) return [el("p", {}, "This run has no answers to label.")];
    const told = [["→", "next"], ["←", "back"], ["s", "next unlabelled"], ["u", "undo"], ["t", "note"], ["m", "full passages"]];
    return [
      state.parts.progress,
      state.parts.answer,
      el(
        "div",
        { class: "label-desk" },
        state.parts.questions,
        el("div", { class: "label-note" }, el("label", { for: "note" }, "Note"), state.note),
        state.parts.said,
        el("p", { class: "keys" }, keys.told(told)),
      ),
    ];
  }

  const labelOf = (state, metric, id) => state.labels[metric][id] || null;
  const isDone = (state, id) => state.questions.every(({ metric }) => labelOf(state, metric, id));

  /** Show the answer at hand: nothing of what a metric or the judge says of it. */
  async function show(state) {
    const at = state.at;
    drawDesk(state);
    const answer = await server.get(`api/runs/${server.segment(state.run)}/answers/${at}`);
    if (!state.isCurrent() || state.at !== at) return;
    const shown = state.whole ? answer.passages : answer.passages.slice(0, AT_FIRST);
    state.parts.answer.replaceChildren(
      text("Question", answer.question),
      text("Expected answer", answer.expected || "–"),
      text("Answer", answer.answer, "given"),
      el(
        "section",
        { class: "passages" },
        el("h3", {}, shown.length < answer.passages.length ? `Passages (the first ${shown.length} of ${answer.passages.length})` : "Passages"),
        shown.length ? el("ol", {}, shown.map((one) => passage(one, state.whole))) : el("p", {}, "–"),
      ),
    );
    state.parts.answer.dataset.id = answer.id;
  }

  function text(title, said, kind) {
    return el("section", { class: kind || null }, el("h3", {}, title), el("p", { class: "text" }, foreign(said)));
  }

  function passage(one, whole) {
    const said = whole || one.text.length <= LENGTH ? one.text : `${one.text.slice(0, LENGTH)} …`;
    return el("li", {}, el("div", { class: "where" }, foreign(one.place)), el("p", { class: "text" }, foreign(said)));
  }

  function drawDesk(state) {
    const id = state.ids[state.at];
    const counts = state.questions.map(({ metric }) => `${metric.replaceAll("_", " ")} ${Object.keys(state.labels[metric]).length}`);
    state.parts.progress.replaceChildren(
      el("p", { class: "facts" }, `Answer ${state.at + 1} of ${state.ids.length} (`, foreign(id), `), in random order. Labelled: ${counts.join(", ")}.`),
      el("p", { class: "facts" }, "Saved in ", el("code", {}, state.sheet), state.annotator ? ` by ${state.annotator}` : ""),
    );
    state.parts.questions.replaceChildren(...state.questions.map((question) => choices(state, question, id)));
    const given = state.questions.map(({ metric }) => labelOf(state, metric, id)).find(Boolean);
    state.note.value = given ? given.comment : "";
  }

  function choices(state, question, id) {
    const given = labelOf(state, question.metric, id);
    const buttons = Object.entries(question.keys).map(([key, verdict]) =>
      el(
        "button",
        {
          type: "button",
          "data-metric": question.metric,
          "data-verdict": verdict,
          "aria-pressed": given && given.verdict === verdict ? "true" : "false",
          onclick: () => give(state, question.metric, verdict),
        },
        el("kbd", {}, key),
        ` ${verdict.replaceAll("_", " ")}`,
      ),
    );
    return el("fieldset", {}, el("legend", {}, question.asks), buttons);
  }

  /** Save a label of the answer at hand; null takes it back. Returns whether it is in the sheet. */
  async function save(state, metric, verdict) {
    const id = state.ids[state.at];
    const label = { question: id, metric, verdict, comment: verdict ? state.note.value : "", before: labelOf(state, metric, id) };
    try {
      keep(state, metric, id, await server.post(`api/runs/${server.segment(state.run)}/labels`, label));
      say(state, "");
      return true;
    } catch (error) {
      if (error.status === 409) keep(state, metric, id, error.answer.found);
      say(state, error.status === 409 ? `Not saved: ${error.message}.` : `Not saved: ${error.message}`);
      drawDesk(state);
      return false;
    }
  }

  function keep(state, metric, id, label) {
    if (label) state.labels[metric][id] = label;
    else delete state.labels[metric][id];
  }

  function say(state, said) {
    state.parts.said.replaceChildren(...(said ? [el("p", { class: "error" }, said)] : []));
  }

  /** Label the answer at hand; once all is said of it, the next one comes. */
  async function give(state, metric, verdict) {
    if (state.busy) return;
    state.busy = true;
    const was = isDone(state, state.ids[state.at]);
    const saved = await save(state, metric, verdict);
    state.busy = false;
    if (!saved) return;
    drawDesk(state);
    if (!was && isDone(state, state.ids[state.at])) await unlabelled(state);
  }

  async function takeBack(state) {
    const id = state.ids[state.at];
    for (const { metric } of state.questions) if (labelOf(state, metric, id) && !(await save(state, metric, null))) return;
    drawDesk(state);
  }

  /** The note goes with the labels that are given already. */
  async function renote(state) {
    const id = state.ids[state.at];
    for (const { metric } of state.questions) {
      const given = labelOf(state, metric, id);
      if (given && !(await save(state, metric, given.verdict))) return;
    }
  }

  async function go(state, to) {
    if (to < 0 || to >= state.ids.length) return;
    state.at = to;
    state.whole = false;
    say(state, "");
    window.scrollTo(0, 0);
    await show(state);
  }

  async function unlabelled(state) {
    const places = state.ids.map((_, place) => (state.at + 1 + place) % state.ids.length);
    const next = places.find((place) => !isDone(state, state.ids[place]));
    if (next === undefined) return say(state, "All answers are labelled.");
    await go(state, next);
  }

  function onKey(event, state) {
    const question = state.questions.find((one) => event.key in one.keys);
    const acts = {
      ArrowRight: () => go(state, state.at + 1),
      ArrowLeft: () => go(state, state.at - 1),
      s: () => unlabelled(state),
      u: () => takeBack(state),
      t: () => state.note.focus(),
      m: () => {
        state.whole = !state.whole;
        show(state);
      },
    };
    const act = question ? () => give(state, question.metric, question.keys[event.key]) : acts[event.key];
    if (act) act();
    return Boolean(act);
  }

  if (server.labelling) pages.register("label", render, { title: "Label" });
})(evalsReport);
