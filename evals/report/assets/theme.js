// Light or dark: as the system is set, until the reader chooses.
(function (app) {
  "use strict";

  const { el } = app.dom;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  function isDark() {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : dark.matches;
  }

  function toggle(event) {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    label(event.currentTarget);
  }

  function label(button) {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", isDark() ? "Show in light colours" : "Show in dark colours");
  }

  const button = el("button", { type: "button", class: "theme", onclick: toggle });
  label(button);
  dark.addEventListener("change", () => label(button));
  document.getElementById("tools").append(button);
  app.theme = { isDark };
})(evalsReport);
