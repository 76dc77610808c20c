// Keys for the review page: a digit gives a label, 0 closes, s skips, u undoes. They rest in fields and with modifiers,
// and can be switched off. Whether they are on, and whether the decision is shown, is remembered in this browser.
const form = document.getElementById("answer-form");
if (form) {
  const stored = {
    read: (name) => { try { return localStorage.getItem(name); } catch { return null; } },
    write: (name, value) => { try { localStorage.setItem(name, value); } catch { /* this browser keeps nothing */ } },
  };
  const keys = document.getElementById("keys-on");
  keys.checked = stored.read("kapsoweb-keys") !== "off";
  keys.closest(".keys").hidden = false;
  keys.addEventListener("change", () => stored.write("kapsoweb-keys", keys.checked ? "on" : "off"));

  const decision = document.getElementById("decision");
  decision.open = stored.read("kapsoweb-decision") !== "closed";
  decision.addEventListener("toggle", () => stored.write("kapsoweb-decision", decision.open ? "open" : "closed"));

  let sent = false;
  form.addEventListener("submit", (event) => {
    if (sent) event.preventDefault();
    sent = true;
  });
  window.addEventListener("pageshow", () => { sent = false; });

  document.addEventListener("keydown", (event) => {
    if (!keys.checked || event.repeat || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    if (event.target.closest("textarea, select, input:not([type=checkbox])")) return;
    const button = [...form.querySelectorAll("button[data-key]")].find((each) => each.dataset.key === event.key);
    if (!button || button.disabled) return;
    event.preventDefault();
    form.requestSubmit(button);
  });
}
