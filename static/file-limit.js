// A file that is too large is refused before it is sent: the server would close the connection in the middle of it.
(() => {
  "use strict";
  for (const input of document.querySelectorAll("input[type=file][data-most-bytes]")) {
    const error = document.getElementById(`${input.id}-error`);
    const hint = input.getAttribute("aria-describedby");
    const judge = () => {
      const large = [...input.files].some((file) => file.size > Number(input.dataset.mostBytes));
      error.hidden = !large;
      input.setAttribute("aria-invalid", String(large));
      input.setAttribute("aria-describedby", large ? `${hint} ${error.id}` : hint);
      return !large;
    };
    input.addEventListener("change", judge);
    input.form.addEventListener("submit", (event) => {
      if (judge()) return;
      event.preventDefault();
      input.focus();
    });
  }
})();
