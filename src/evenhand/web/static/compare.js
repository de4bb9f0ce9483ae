// Keys and saving at once, on the page where two answers are compared. Without this script its form works the same.
"use strict";
(() => {
  const form = document.querySelector("form[data-save]");
  if (!form) return;
  const radios = [...form.querySelectorAll("input[name=choice]")];
  const after = form.elements.after;
  const status = form.querySelector("[data-status]");
  const judged = document.querySelector("[data-judged]");
  const done = document.getElementById("done");
  form.querySelector("[data-keys]").hidden = false;
  let saving = Promise.resolve();

  async function save(choice) {
    status.textContent = `Saving ${choice} …`;
    try {
      const answer = await fetch(form.dataset.save, {
        method: "PUT",
        headers: { "Content-Type": "application/json", "X-CSRF-Token": form.elements.csrf.value },
        body: JSON.stringify({ choice, after: Number(after.value) }),
      });
      const said = await answer.json();
      if (!answer.ok) throw new Error(said.error);
      if (after.value === "0" && said.times > 0) {
        done.value += 1;
        judged.textContent = String(done.value);
      }
      after.value = String(said.times);
      status.textContent = `Saved: ${said.choice}`;
    } catch (error) {
      status.textContent = `Not saved yet. ${error.message || ""} Next tries again.`;
    }
  }

  function choose(radio) {
    radio.checked = true;
    saving = saving.then(() => save(radio.value));
  }

  for (const radio of radios) radio.addEventListener("change", () => choose(radio));

  function typing(target) {
    return target.matches("input:not([type=radio]), textarea, select");
  }

  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || typing(event.target)) return;
    const radio = radios[Number(event.key) - 1];
    if (radio && !radio.matches(":disabled")) {
      event.preventDefault();
      choose(radio);
      return;
    }
    const go = { ArrowRight: "next", ArrowLeft: "previous" }[event.key];
    const button = go && form.querySelector(`button[value=${go}]`);
    if (button && !button.disabled) {
      // Left and right would move a choice that has the focus; up and down still do.
      event.preventDefault();
      saving.then(() => form.requestSubmit(button));
    }
  });
})();
