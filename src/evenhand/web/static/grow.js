// Counters, and drafts that survive a closed tab. Everything works without this file.
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
  const key = `evenhand-${form.dataset.draft}`;
  const fields = [...form.querySelectorAll("textarea, input[type=url], input:not([type])")];
  let kept = {};
  try { kept = JSON.parse(localStorage.getItem(key)) || {}; } catch { /* an old or foreign draft is no draft */ }
  for (const field of fields) {
    if (!field.value && typeof kept[field.name] === "string") {
      field.value = kept[field.name];
      field.dispatchEvent(new Event("input"));
    }
  }
  form.addEventListener("input", () => {
    localStorage.setItem(key, JSON.stringify(Object.fromEntries(fields.map((field) => [field.name, field.value]))));
  });
  form.addEventListener("submit", () => localStorage.removeItem(key));
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
