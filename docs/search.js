// A search field above the list of pages. What it finds is loaded as a script when the field is first used: a page
// opened from disk may load nothing else. Without scripts there is the list of pages.
"use strict";
(() => {
  const base = new URL(".", document.currentScript.src);
  const place = document.querySelector(".wy-side-nav-search");
  if (!place) return;
  const MOST = 12;

  const made = (name, attributes, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const field = made("input", { id: "search", type: "search", placeholder: "Search", autocomplete: "off" });
  const told = made("p", { class: "search-told", role: "status" });
  const list = made("ol", { class: "search-found" });
  place.append(
    made("form", { role: "search", class: "search" }, made("label", { for: "search" }, "Search these pages"), field),
    told,
    list,
  );

  let loading = null;
  const loaded = () => {
    loading ??= new Promise((done, failed) => {
      const script = made("script", { src: new URL("search-index.js", base).href });
      script.onload = () => done(window.evenhandSections);
      script.onerror = failed;
      document.head.append(script);
    });
    return loading;
  };

  // Every word must stand somewhere in the section; in a heading it counts most.
  const worth = (section, words) => {
    const [heading, page, text] = [section.heading, section.page, section.text].map((one) => one.toLowerCase());
    let sum = 0;
    for (const word of words) {
      const here = (heading.includes(word) ? 20 : 0) + (page.includes(word) ? 5 : 0) + Math.min(text.split(word).length - 1, 4);
      if (!here) return 0;
      sum += here;
    }
    return sum;
  };

  const around = (text, word) => {
    const at = text.toLowerCase().indexOf(word);
    const from = Math.max(0, at - 50);
    if (at < 0) return [text.slice(0, 110)];
    const after = at + word.length;
    return [(from ? "… " : "") + text.slice(from, at), made("mark", {}, text.slice(at, after)), text.slice(after, after + 70) + " …"];
  };

  const show = async () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const sections = words.length ? await loaded() : [];
    const found = sections
      .map((section) => ({ section, worth: worth(section, words) }))
      .filter((one) => one.worth)
      .sort((one, other) => other.worth - one.worth);
    const name = ({ heading, page }) => (heading && heading !== page ? `${heading} · ${page}` : page);
    list.replaceChildren(
      ...found.slice(0, MOST).map(({ section }) =>
        made("li", {}, made("a", { href: new URL(section.address, base).href }, name(section)), made("span", {}, ...around(section.text, words[0]))),
      ),
    );
    const more = found.length > MOST ? `, the first ${MOST} below` : "";
    told.textContent = words.length ? `${found.length || "Nothing"} found${more}` : "";
  };

  field.addEventListener("focus", () => void loaded());
  field.addEventListener("input", () => void show());
  field.form.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
})();
