// What differs between two texts, word by word, by jsdiff.
(function (app) {
  "use strict";

  const { el } = app.dom;
  const MOST_CHARACTERS = 100000;
  const MOST_MS = 300;
  const segmenter = window.Intl && Intl.Segmenter ? new Intl.Segmenter(undefined, { granularity: "word" }) : undefined;

  /** The pieces of both texts in turn, `added` or `removed` where they differ; null where it would take too long. */
  function difference(before, after) {
    if (before.length + after.length > MOST_CHARACTERS) return null;
    return Diff.diffWords(before, after, { intlSegmenter: segmenter, timeout: MOST_MS }) || null;
  }

  /**
   * Two texts with what is gone marked in the first and what is new in the second.
   * @returns {{first: HTMLElement, last: HTMLElement, note: string}}
   */
  function beside(before, after) {
    const pieces = before === after ? [] : difference(before, after);
    if (pieces === null) return { first: text([before]), last: text([after]), note: "These texts are too long to mark what differs." };
    if (before === after) return { first: text([before]), last: text([after]), note: "The texts are the same." };
    const marked = (kind, name) => pieces.filter((piece) => piece[kind] || !(piece.added || piece.removed)).map((piece) => (piece[kind] ? el(name, {}, piece.value) : piece.value));
    return { first: text(marked("removed", "del")), last: text(marked("added", "ins")), note: "" };
  }

  function text(pieces) {
    return el("div", { class: "text", dir: "auto" }, pieces);
  }

  app.words = { beside };
})(evalsReport);
