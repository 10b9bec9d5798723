// Data comes from the server that gave the page, under the address of the page itself.
(function (app) {
  "use strict";

  const { root, runs, labelling } = document.body.dataset;

  /** Ask for something; what the server says is wrong becomes an error with its words, status and answer. */
  async function ask(path, options) {
    let response;
    try {
      response = await fetch(`${root}${path}`, { credentials: "omit", ...options });
    } catch {
      throw new Error("the server does not respond: evals view was stopped");
    }
    const type = response.headers.get("content-type") || "";
    const answer = type.startsWith("application/json") ? await response.json() : null;
    if (response.ok) return answer;
    const said = answer ? `${answer.error}${answer.hint ? ` (${answer.hint})` : ""}` : `${response.status} ${response.statusText}`;
    throw Object.assign(new Error(said), { status: response.status, answer });
  }

  const get = (path) => ask(path);
  const post = (path, value) =>
    ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(value) });

  /** Do something now and every so often, as long as somebody looks and `goesOn()` holds. */
  async function repeat(seconds, goesOn, act) {
    while (goesOn()) {
      if (!document.hidden) await act();
      await new Promise((done) => setTimeout(done, 1000 * seconds));
    }
  }

  const segment = (text) => text.split("/").map(encodeURIComponent).join("/");
  app.blocks.use(async (name) => (runs ? get(`runs/${runs}/block/${segment(name)}`) : { version: "", runs: [] }));
  app.server = { get, post, repeat, segment, root, runs, labelling: Boolean(labelling) };

  if (runs && labelling && !runs.includes(",")) {
    const { el } = app.dom;
    document.getElementById("tools").append(el("a", { class: "tool", href: `${root}#/label/${runs}` }, "Label"));
  }
})(evalsReport);
