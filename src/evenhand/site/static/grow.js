// Counters, and drafts that the server keeps. Everything else works without this file.
"use strict";

for (const counter of document.querySelectorAll("[data-counts]")) {
  const field = document.getElementById(counter.dataset.counts);
  const most = Number(counter.dataset.most);
  const show = () => {
    // As the server counts: characters, not the halves that JavaScript counts.
    const used = Array.from(field.value.trim()).length;
    counter.textContent = `${used.toLocaleString("en")} / ${most.toLocaleString("en")}`;
    counter.classList.toggle("near", used > most * 0.9);
  };
  field.addEventListener("input", show);
  show();
}

for (const form of document.querySelectorAll("[data-draft]")) {
  const fields = [...form.querySelectorAll("textarea, select, input[type=url], input:not([type])")];
  const note = document.querySelector("[data-draft-note]");
  let timer = 0;
  let sending = false;

  async function save() {
    clearTimeout(timer);
    timer = 0;
    try {
      const answer = await fetch(form.dataset.draft, {
        method: "PUT",
        headers: { "Content-Type": "application/json", "X-CSRF-Token": form.elements.csrf.value },
        body: JSON.stringify(Object.fromEntries(fields.map((field) => [field.name, field.value]))),
        keepalive: true, // also when the tab is being closed
      });
      note.textContent = answer.ok ? "Draft saved." : "The draft could not be saved; copy your text before you leave.";
    } catch {
      note.textContent = "The draft could not be saved: the server cannot be reached.";
    }
  }

  form.addEventListener("input", (event) => {
    if (!fields.includes(event.target)) return;
    clearTimeout(timer);
    timer = setTimeout(save, 800);
  });
  addEventListener("pagehide", () => { if (timer && !sending) save(); });
  // What is sent is no draft any more: the server takes it away when it has kept the words, and not before.
  form.addEventListener("submit", () => { sending = true; clearTimeout(timer); timer = 0; });
}

for (const form of document.querySelectorAll("form.judge")) {
  const why = form.querySelector(".why");
  const show = () => {
    const no = form.querySelector("[name=follows][value=no]").checked;
    why.hidden = !no;
    for (const one of why.querySelectorAll("input")) one.required = no;
  };
  form.addEventListener("change", show);
  show();
}
