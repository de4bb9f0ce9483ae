// Keys, saving at once, and images in full size, on the page where two answers are compared. Without this script its
// form works the same.
"use strict";
(() => {
  const form = document.querySelector("form[data-save]");
  if (!form) return;
  const radios = [...form.querySelectorAll("input[name=choice]")];
  const after = form.elements.after;
  const status = form.querySelector("[data-status]");
  const judged = document.querySelector("[data-judged]");
  const done = document.getElementById("done");
  const undo = form.querySelector("[data-undo]");
  const taught = document.querySelector("[data-taught]");
  form.querySelector("[data-keys]").hidden = false;
  // A choice goes by what its button says.
  const words = (code) => radios.find((one) => one.value === code)?.closest("label").querySelector(".words").textContent;
  let saving = Promise.resolve();
  let waiting = 0;
  let answered = form.dataset.answered === "yes";

  // Whether a choice leads on: the study's own way, until the person says otherwise.
  const box = form.querySelector("[data-advance-box]");
  const advance = box.querySelector("input");
  const wished = () => { try { return localStorage.getItem("evenhand-advance"); } catch { return null; } };
  box.hidden = false;
  advance.checked = (wished() ?? form.dataset.advance) === "yes";
  advance.addEventListener("change", () => {
    try { localStorage.setItem("evenhand-advance", advance.checked ? "yes" : "no"); } catch { /* for this page alone */ }
  });

  function go(where) {
    const button = form.querySelector(`button[name=go][value=${where}]`);
    if (button && !button.disabled) form.requestSubmit(button);
  }

  function stands(said) {
    const now = Boolean(said.choice);
    if (now !== answered) done.value += now ? 1 : -1;
    answered = now;
    judged.textContent = String(done.value);
    after.value = String(said.times);
    undo.disabled = !done.value;
  }

  function teach(told) {
    taught.hidden = false;
    taught.classList.toggle("right", told.right);
    taught.querySelector("[data-taught-words]").textContent =
      `${told.right ? "You are right" : "Not quite"}: ${told.better ?? "neither"} is better.`;
    taught.querySelector("[data-taught-why]").textContent = told.why;
    taught.scrollIntoView({ block: "nearest" });
    if (!form.elements.taught) {
      const seen = document.createElement("input");
      seen.type = "hidden";
      seen.name = "taught";
      seen.value = "yes";
      form.append(seen);
    }
  }

  async function sent(choice) {
    return fetch(form.dataset.save, {
      method: "PUT",
      headers: { "Content-Type": "application/json", "X-CSRF-Token": form.elements.csrf.value },
      body: JSON.stringify({
        choice,
        showing: form.elements.showing.value,
        opened: form.elements.opened.value,
        after: Number(after.value),
      }),
    });
  }

  async function save(choice) {
    status.textContent = `Saving ${words(choice)} …`;
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
      status.textContent = `Saved: ${words(said.choice)}`;
      if (said.taught) teach(said.taught);
      else if (advance.checked && waiting === 1) setTimeout(() => go("next"));
      return;
    }
    status.textContent = said.error;
    if (said.changed) {
      // Sent as a form the same is refused too, with a page of what the comparison shows now.
      go("next");
      return;
    }
    if (answer.status === 409 && "times" in said) {
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
  function afterSaving(event) {
    if (!waiting) return;
    event.preventDefault();
    const button = event.submitter;
    saving.then(() => event.target.requestSubmit(button));
  }
  form.addEventListener("submit", afterSaving);
  document.getElementById("undo").addEventListener("submit", afterSaving);

  // Images in full size, in place; Escape closes what the browser has opened.
  const dialog = document.querySelector("[data-dialog]");
  const images = [...document.querySelectorAll("a[data-zoom]")];
  function zoom(link) {
    dialog.querySelector("[data-zoomed]").src = link.href;
    dialog.showModal();
  }
  for (const link of images) {
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      zoom(link);
    });
  }
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });

  function asWritten() {
    const raw = [...document.querySelectorAll("details.raw")];
    const open = !raw.some((one) => one.open);
    for (const one of raw) one.open = open;
  }

  const more = document.querySelector("details.remark");
  function comment() {
    more.open = true;
    form.elements.comment.focus();
  }

  // A skip has a reason: the key leads to the reasons, and Enter on one of them skips.
  function skip() {
    const first = more.querySelector("button[name=skip]:not(:disabled)");
    if (!first) return;
    more.open = true;
    first.focus();
  }

  function typing(target) {
    return target.matches("input:not([type=radio], [type=checkbox]), textarea, select");
  }

  const keys = {
    ArrowRight: () => go("next"),
    ArrowLeft: () => go("previous"),
    u: () => { if (!undo.disabled) undo.click(); },
    s: skip,
    r: asWritten,
    c: comment,
    z: () => { if (dialog.open) dialog.close(); else if (images.length) zoom(images[0]); },
  };

  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || typing(event.target)) return;
    const radio = radios[Number(event.key) - 1];
    if (radio && !radio.matches(":disabled") && !dialog.open) {
      event.preventDefault();
      choose(radio);
      return;
    }
    const does = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (does && (!dialog.open || event.key.toLowerCase() === "z")) {
      // Left and right would move a choice that has the focus; up and down still do.
      event.preventDefault();
      does();
    }
  });
})();
