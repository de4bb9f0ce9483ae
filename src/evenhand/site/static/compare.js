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
  let waiting = 0;

  function stands(said) {
    if (after.value === "0" && said.times > 0) {
      done.value += 1;
      judged.textContent = String(done.value);
    }
    after.value = String(said.times);
  }

  async function sent(choice) {
    return fetch(form.dataset.save, {
      method: "PUT",
      headers: { "Content-Type": "application/json", "X-CSRF-Token": form.elements.csrf.value },
      body: JSON.stringify({ choice, showing: form.elements.showing.value, after: Number(after.value) }),
    });
  }

  async function save(choice) {
    status.textContent = `Saving ${choice} …`;
    let answer, said;
    try {
      answer = await sent(choice);
      said = await answer.json();
    } catch {
      status.textContent = "Not saved yet: the server cannot be reached. Next tries again.";
      return;
    }
    if (answer.ok) {
      stands(said);
      status.textContent = `Saved: ${said.choice}`;
      return;
    }
    status.textContent = said.error;
    if (said.changed) {
      // Sent as a form the same is refused too, with a page of what the comparison shows now.
      form.requestSubmit(form.querySelector("button[value=next]"));
      return;
    }
    if (answer.status === 409 && said.choice) {
      stands(said);
      for (const radio of radios) radio.checked = radio.value === said.choice;
    }
  }

  function choose(radio) {
    radio.checked = true;
    waiting += 1;
    saving = saving.then(() => save(radio.value)).finally(() => { waiting -= 1; });
  }

  for (const radio of radios) radio.addEventListener("change", () => choose(radio));

  // A form sent while a choice is still being saved would be one of the two that is refused.
  form.addEventListener("submit", (event) => {
    if (!waiting) return;
    event.preventDefault();
    const button = event.submitter;
    saving.then(() => form.requestSubmit(button));
  });

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
      form.requestSubmit(button);
    }
  });
})();
