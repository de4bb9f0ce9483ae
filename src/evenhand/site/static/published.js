// Finds, chooses, turns pages and sorts on pages that became files, with no server behind them. Without this script
// every list stands there whole.
"use strict";

for (const form of document.querySelectorAll("form[data-list]")) {
  const list = document.getElementById(form.dataset.list);
  if (!list) continue;
  const rows = [...list.children].filter((row) => !row.matches(".component"));
  // What is shown of a row, or what it stands for where that is longer.
  const words = rows.map((row) => `${(row.querySelector(".name") ?? row).textContent} ${row.dataset.words ?? ""}`.toLowerCase());
  const per = Number(form.dataset.per ?? rows.length);
  const status = form.querySelector("[role=status]");
  const turning = document.createElement("nav");
  turning.className = "paging";
  turning.setAttribute("aria-label", "Pages");
  turning.innerHTML = '<button type="button">Previous</button><span></span><button type="button">Next</button>';
  const [previous, place, next] = turning.children;
  (list.closest(".table-frame") ?? list).after(turning);
  let page = 0;

  function fits(row, number, asked) {
    return asked.every(([name, value]) =>
      name === "find" ? words[number].includes(value.trim().toLowerCase()) : row.dataset[name].split("\n").includes(value));
  }

  function show() {
    const asked = [...new FormData(form)].filter(([, value]) => value.trim());
    const found = rows.filter((row, number) => fits(row, number, asked));
    const pages = Math.max(1, Math.ceil(found.length / per));
    page = Math.min(Math.max(page, 0), pages - 1);
    const shown = new Set(found.slice(page * per, (page + 1) * per));
    for (const row of rows) row.hidden = !shown.has(row);
    status.textContent = asked.length ? `${found.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")}` : "";
    place.textContent = `Page ${(page + 1).toLocaleString("en")} of ${pages.toLocaleString("en")}`;
    turning.hidden = pages === 1;
    previous.disabled = page === 0;
    next.disabled = page === pages - 1;
  }

  function turn(by) {
    page += by;
    show();
    list.scrollIntoView({ block: "start" });
  }

  previous.addEventListener("click", () => turn(-1));
  next.addEventListener("click", () => turn(1));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => { page = 0; show(); });

  // A figure of the head-to-head table leads to #against=NAME.
  function choose() {
    const [name, value] = location.hash.slice(1).split("=");
    const field = value !== undefined && form.elements.namedItem(name);
    if (!field) return;
    field.value = decodeURIComponent(value);
    page = 0;
    show();
    form.scrollIntoView();
  }

  form.hidden = false;
  show();
  choose();
  addEventListener("hashchange", choose);
}

for (const heading of document.querySelectorAll("th [data-sort]")) {
  const cell = heading.parentElement;
  const rows = [...cell.closest("table").tBodies[0].rows];
  const first = heading.dataset.sort === "up" ? "ascending" : "descending";
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = heading.textContent;
  heading.replaceWith(button);
  button.addEventListener("click", () => {
    const other = first === "ascending" ? "descending" : "ascending";
    const order = cell.getAttribute("aria-sort") === first ? other : first;
    for (const one of cell.parentElement.children) one.removeAttribute("aria-sort");
    cell.setAttribute("aria-sort", order);
    // Ratings are shown rounded, and ranked by all their digits: their order is that of the rows as they came.
    const value = heading.dataset.by ? (row) => -rows.indexOf(row) : (row) => valueOf(row.cells[cell.cellIndex]);
    sort(rows, value, order === "ascending" ? 1 : -1);
  });
}

// `ranked` are the rows as they came: of those alike the better ranked stays above. Within their components; what has
// no value stands last.
function sort(ranked, value, way) {
  const body = ranked[0].parentElement;
  const parts = [[]];
  for (const row of ranked) {
    if (row.matches(".component")) parts.push([]);
    parts.at(-1).push(row);
  }
  for (const part of parts) {
    const heads = part.filter((row) => row.matches(".component"));
    const rows = part.filter((row) => !row.matches(".component"));
    const values = new Map(rows.map((row) => [row, value(row)]));
    rows.sort((one, other) => {
      const [a, b] = [values.get(one), values.get(other)];
      if (a === null || b === null) return (a === null) - (b === null);
      return way * (typeof a === "string" ? a.localeCompare(b, "en") : a - b);
    });
    body.append(...heads, ...rows);
  }
}

function valueOf(cell) {
  const shown = (cell.querySelector("b") ?? cell).textContent.trim();
  if (cell.matches(".name")) return shown.toLowerCase();
  const number = Number.parseFloat(shown.replace(/[<>,\s]/g, "").replace("\u2212", "-"));
  if (Number.isNaN(number)) return null;
  // A share that would be rounded to 0 or 100 per cent is told as `<1` and `>99`: between those and what is exact.
  if (shown.startsWith("<")) return number / 2;
  return shown.startsWith(">") ? (number + 100) / 2 : number;
}
