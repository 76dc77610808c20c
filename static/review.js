// Keys for the review page, and what its reviewer chose in this browser: whether keys are on, and whether a decision is
// shown before it is reviewed. Read before the page is drawn, so that a decision which is to stay hidden never flashes.
(() => {
  "use strict";
  const KEYS = "kapsoweb-keys";
  const HIDDEN = "kapsoweb-decision-hidden";
  const DRAFT = "kapsoweb-draft";
  const CALM_MILLISECONDS = 300; // a second press of a key that was meant for the item before must not answer the next

  // A browser may refuse to keep anything; then choices last as long as the page.
  const kept = (storage, name) => { try { return storage().getItem(name); } catch { return null; } };
  const keep = (storage, name, value) => { try { storage().setItem(name, value); } catch { /* refused */ } };
  const forget = (storage, name) => { try { storage().removeItem(name); } catch { /* refused */ } };
  const always = () => localStorage;
  const inThisTab = () => sessionStorage;

  const root = document.documentElement;
  root.classList.toggle("keys-on", kept(always, KEYS) !== "off");
  root.classList.toggle("decision-hidden", kept(always, HIDDEN) === "yes");

  const takeChoices = () => {
    const keys = document.getElementById("keys-on");
    const hidden = document.getElementById("decision-hidden");
    const decision = document.getElementById("decision");
    document.getElementById("choices").hidden = false;
    keys.checked = root.classList.contains("keys-on");
    hidden.checked = root.classList.contains("decision-hidden");
    decision.open = !hidden.checked;
    root.classList.remove("decision-hidden"); // folded by the page itself from here on, and free to be looked into
    const shortcuts = () => {
      root.classList.toggle("keys-on", keys.checked);
      for (const button of document.querySelectorAll("button[data-key]")) {
        if (keys.checked) button.setAttribute("aria-keyshortcuts", button.dataset.key);
        else button.removeAttribute("aria-keyshortcuts");
      }
    };
    shortcuts();
    keys.addEventListener("change", () => {
      keep(always, KEYS, keys.checked ? "on" : "off");
      shortcuts();
    });
    hidden.addEventListener("change", () => {
      keep(always, HIDDEN, hidden.checked ? "yes" : "no");
      decision.open = !hidden.checked;
    });
  };

  // What is written beside an answer outlives a visit that ended meanwhile: it belongs to the assignment, and to this tab.
  const keepDraft = (form) => {
    const { explanation, reasonCode } = form.elements;
    const draft = kept(inThisTab, DRAFT)?.split("\u0000") ?? [];
    if (draft[0] === form.action && !explanation.value && !reasonCode.value) {
      [, explanation.value, reasonCode.value] = draft;
    } else {
      forget(inThisTab, DRAFT);
    }
    form.addEventListener("input", () => {
      keep(inThisTab, DRAFT, [form.action, explanation.value, reasonCode.value].join("\u0000"));
    });
  };

  const sendOnce = (form) => {
    let sent = false;
    form.addEventListener("submit", (event) => {
      if (sent) event.preventDefault();
      sent = true;
      form.classList.add("sent");
    });
    window.addEventListener("pageshow", () => { // also by the way back
      sent = false;
      form.classList.remove("sent");
    });
  };

  const takeKeys = (form) => {
    document.addEventListener("keydown", (event) => {
      if (!root.classList.contains("keys-on") || event.repeat || event.isComposing) return;
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.target.closest("textarea, select, input:not([type=checkbox]), [contenteditable]")) return;
      const button = [...form.querySelectorAll("button[data-key]")].find((each) => each.dataset.key === event.key);
      if (!button) return;
      event.preventDefault();
      form.requestSubmit(button);
    });
    form.dataset.keys = "ready";
  };

  document.addEventListener("DOMContentLoaded", () => {
    const form = document.getElementById("answer-form");
    if (!form) {
      forget(inThisTab, DRAFT);
      return;
    }
    takeChoices();
    keepDraft(form);
    sendOnce(form);
    setTimeout(takeKeys, CALM_MILLISECONDS, form);
  });
})();
