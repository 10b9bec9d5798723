// The data of a page, block by block: each is unpacked when it is asked for, and once.
(function (app) {
  "use strict";

  const known = new Map();
  let read = inline;

  /** The value of a block. Rejects where there is none of this name. */
  function get(name) {
    if (!known.has(name)) {
      const found = read(name);
      found.catch(() => known.delete(name));
      known.set(name, found);
    }
    return known.get(name);
  }

  /** Take blocks from elsewhere: a function from the name of a block to a promise of its value. */
  function use(reader) {
    read = reader;
    known.clear();
  }

  /** Forget what was read, so that it is asked for again: all blocks whose names begin so. */
  function forget(start) {
    for (const name of [...known.keys()].filter((each) => each.startsWith(start))) known.delete(name);
  }

  async function inline(name) {
    const packed = app.letters.decoded((await element(name)).textContent);
    return JSON.parse(new TextDecoder().decode(fzstd.decompress(packed)));
  }

  /** The element that holds a block: it may stand at the end of a file that is still read. */
  async function element(name) {
    const selector = `script[data-block="${CSS.escape(name)}"]`;
    if (!document.querySelector(selector) && document.readyState === "loading") {
      await new Promise((done) => document.addEventListener("DOMContentLoaded", done, { once: true }));
    }
    const found = document.querySelector(selector);
    if (!found) throw new Error(`no data block ${name}`);
    return found;
  }

  /** The text in a gzip. */
  async function unpacked(bytes) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  }

  app.blocks = { get, use, forget, unpacked };
})(evalsReport);
