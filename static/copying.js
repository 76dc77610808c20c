// Buttons that copy what stands beside them. Without script the text can be marked and copied by hand.
for (const button of document.querySelectorAll("button[data-copies]")) {
  if (!navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const said = document.getElementById("copied");
    try {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copies).textContent);
      said.textContent = "Copied.";
    } catch {
      said.textContent = "The browser does not allow copying; mark the text and copy it.";
    }
  });
}
