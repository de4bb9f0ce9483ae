// A button that copies what stands beside it. Without this script the text is selected by one click.
"use strict";
(() => {
  for (const button of document.querySelectorAll("button[data-copy]")) {
    const text = document.getElementById(button.dataset.copy);
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text.textContent.trim());
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(text);
        button.textContent = "Selected: press Ctrl+C";
      }
    });
  }
})();
