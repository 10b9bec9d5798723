// Keys of a page: none of them acts while a text is typed, or with Ctrl, Alt or Meta.
(function (app) {
  "use strict";

  const { el } = app.dom;

  /** Hear keys as long as a page is shown; `act(event)` says whether the key meant something. */
  function on(context, act) {
    const hear = (event) => {
      if (!context.isCurrent()) return document.removeEventListener("keydown", hear);
      const typing = event.target.matches("input:not([type=checkbox]), textarea, select");
      if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (act(event)) event.preventDefault();
    };
    document.addEventListener("keydown", hear);
  }

  /** Keys with what they do, as a reader sees them. */
  function told(pairs) {
    return pairs.flatMap(([key, does]) => [el("span", { class: "key" }, el("kbd", {}, key), ` ${does}`), " "]);
  }

  app.keys = { on, told };
})(evalsReport);
