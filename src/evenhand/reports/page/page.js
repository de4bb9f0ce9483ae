"use strict";
// Opens the packed judgements of a report. Everything that others wrote goes in as text, never as HTML.
(() => {
  const PER_PAGE = 50;
  const byId = (id) => document.getElementById(id);
  const rowsList = byId("rows"), report = byId("report"), casePage = byId("case");
  const fields = { q: byId("f-q"), show: byId("f-show"), category: byId("f-category"), model: byId("f-model") };
  const blocks = new Map();
  let index = null, found = [], state = {}, listScroll = 0;

  const element = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== undefined && value !== null && value !== false) made.setAttribute(name, value);
    }
    made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
    return made;
  };

  const unpacked = async (id) => {
    const bytes = Uint8Array.from(atob(byId(id).textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return JSON.parse(await new Response(stream).text());
  };

  const block = (number) => {
    if (!blocks.has(number)) blocks.set(number, unpacked(`block-${number}`));
    return blocks.get(number);
  };

  // The list's state lives in the address, so that it can be sent to somebody and the browser's Back works.
  const read = () => {
    const address = location.hash.slice(1);
    const given = new URLSearchParams(address.includes("=") ? address : "");
    return { q: given.get("q") || "", show: given.get("show") || "", category: given.get("category") || "",
      model: given.get("model") || "", page: Math.max(0, parseInt(given.get("page") || "1", 10) - 1 || 0),
      case: given.get("case") || "" };
  };

  const address = (changes) => {
    const next = { ...state, ...changes };
    const parts = Object.entries(next).filter(([name, value]) => value && name !== "page");
    if (next.page) parts.push(["page", String(next.page + 1)]);
    return parts.length ? `#${new URLSearchParams(parts)}` : "#judgements";
  };

  // Of a case's flags: verdicts that disagree, one without, and an answer of the first or the second model that speaks.
  const faulty = { disagree: (flags) => flags & 1, failure: (flags) => flags & 2, fault: (flags) => flags & 3, speaks: (flags) => flags & 12 };

  const chosen = () => {
    const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
    const model = index.models.indexOf(state.model);
    return index.cases.map((_, number) => number).filter((number) => {
      const [id, item, first, second, , flags] = index.cases[number];
      const [label, category, task, excerpt] = index.items[item];
      if (state.show && !faulty[state.show]?.(flags)) return false;
      if (state.category && category !== state.category) return false;
      if (state.model && model !== first && model !== second) return false;
      if (!words.length) return true;
      const text = [id, label, category, task, excerpt, index.models[first], index.models[second]].join("\n").toLowerCase();
      return words.every((word) => text.includes(word));
    });
  };

  const outcome = (one) => {
    const [, , first, second, winner, flags] = one;
    if (flags & 1) return ["verdicts disagree", "bad"];
    if (winner === null) return [flags & 2 ? "no verdict" : "graded", flags & 2 ? "unsure" : ""];
    return winner === 0 ? ["a tie", ""] : [`${index.models[winner > 0 ? first : second]} wins`, "good"];
  };

  const pill = (words, kind) => element("span", { class: `pill ${kind}` }, words);

  const speaking = ([, , first, second, , flags]) => [[4, first], [8, second]].filter(([flag]) => flags & flag)
    .map(([, model]) => pill(`${index.models[model]} speaks to the judge`, "unsure"));

  const row = (number) => {
    const one = index.cases[number], [id, item, first, second, , flags, judgements] = one;
    const [label, category, task, excerpt] = index.items[item];
    return element("li", {}, element("a", { href: address({ case: id }), "data-case": id },
      element("span", { class: "row-head" }, element("b", {}, label), category ? element("span", {}, category) : "",
        task && task !== category ? element("span", {}, task) : ""),
      element("span", { class: "row-text", dir: "auto" }, excerpt),
      element("span", { class: "row-foot" },
        element("span", { class: "versus" }, index.models[first], element("i", {}, " against "), index.models[second]),
        pill(...outcome(one)), flags & 2 && flags & 1 ? pill("some without a verdict", "unsure") : "",
        (flags & 3) === 2 && one[4] !== null ? pill("some without a verdict", "unsure") : "",
        speaking(one),
        element("span", { class: "soft" }, judgements === 1 ? "1 judgement" : `${judgements} judgements`))));
  };

  const drawList = () => {
    found = chosen();
    const pages = Math.max(1, Math.ceil(found.length / PER_PAGE));
    const page = Math.min(state.page, pages - 1), start = page * PER_PAGE;
    for (const [name, field] of Object.entries(fields)) if (field.value !== state[name]) field.value = state[name];
    rowsList.start = start + 1;
    rowsList.replaceChildren(...found.slice(start, start + PER_PAGE).map(row));
    const all = index.cases.length;
    byId("count").textContent = found.length === all ? `${all.toLocaleString("en")} pairs of answers`
      : `${found.length.toLocaleString("en")} of ${all.toLocaleString("en")} pairs of answers`;
    byId("page").textContent = `Page ${page + 1} of ${pages}`;
    byId("before").disabled = page === 0;
    byId("after").disabled = page >= pages - 1;
  };

  const written = (text, kind = "") => element("p", { class: `written ${kind}`, dir: "auto" }, text);
  const folded = (title, ...inside) => element("details", {}, element("summary", {}, title), ...inside);
  const named = (name) => name.replace(/_/g, " ");

  const facts = (pairs) => element("dl", { class: "small-facts" }, pairs
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, String(value)))));

  const pictures = (names) => {
    if (!names || !names.length) return "";
    return element("div", { class: "pictures" }, names.map((name, place) => {
      const number = index.pictures[name];
      if (number === undefined) return element("p", { class: "absent" }, `Image ${place + 1} is not available: ${name}`);
      if (number < 0) return element("p", { class: "absent" }, `Image ${place + 1} is left out for size: ${name}`);
      const source = `data:image/webp;base64,${byId(`picture-${number}`).textContent}`;
      return element("img", { src: source, alt: `Image ${place + 1} of ${names.length}` });
    }), names.filter((name) => (index.licences || {})[name]).map((name) => element("p", { class: "soft" },
      `Licence of image ${names.indexOf(name) + 1}: ${index.licences[name]}`)));
  };

  const question = (item) => {
    const parts = item.brief ? ["role", "background", "instruction", "requirement"].filter((name) => item.brief[name]) : [];
    return element("section", { class: "panel" }, element("h2", {}, "What was asked"), written(item.instruction, "large"),
      pictures(item.images),
      parts.length ? folded("The instruction in its parts", parts.map((name) => [element("h4", {}, named(name)), written(item.brief[name])])) : "",
      item.caption ? folded("Caption of the images", written(item.caption)) : "",
      item.reference ? folded("Reference", written(item.reference)) : "",
      item.ground_truth ? folded("Ground truth", written(item.ground_truth)) : "",
      (item.criteria || []).map(([name, text]) => folded(`Criteria: ${named(name)}`, written(text))),
      folded("All fields", facts([["item", item.label], ["category", item.category], ["task", item.task], ["digest", item.digest],
        ["images", (item.images || []).join("\n")]])));
  };

  const answer = (one) => element("section", { class: "panel" }, element("h3", { class: "name" }, one.model),
    one.variant || one.flags.length ? element("p", { class: "soft" }, [one.variant, ...one.flags].filter(Boolean).join(", ")) : "",
    one.says_to_judge.length ? element("p", { class: "pills" }, one.says_to_judge.map((words) => pill(words, "unsure"))) : "",
    written(one.response));

  const showing = (one, answers) => {
    const order = one.shown.map((place) => answers[place].model);
    const replies = one.calls.map((reply, place) => [
      place ? element("h4", {}, "The extractor") : "",
      written(reply.reply, "said"),
      reply.reasoning ? folded("Its reasoning, which is never read as a verdict", written(reply.reasoning)) : "",
      reply.adapted.map((words) => element("p", { class: "soft" }, words)),
    ]);
    const last = one.calls[one.calls.length - 1] || {};
    return element("section", { class: "panel" },
      element("h3", {}, element("span", { class: "place" }, "1"), order[0], element("span", { class: "place" }, "2"), order[1]),
      element("p", {}, pill(one.by_name, one.verdict ? "" : "unsure")),
      one.detail ? element("p", { class: "soft" }, one.detail) : "",
      replies.length ? replies : element("p", { class: "soft" }, "No reply is on record."),
      folded("All fields", facts([["judge", one.judge], ["trial", one.trial], ["run", one.run],
        ["when", new Date(one.at * 1000).toISOString().replace("T", " ").slice(0, 19) + " UTC"], ["replicate", one.replicate + 1],
        ["asked again", one.attempt || ""], ["reader", one.reader.slice(0, 12)], ["verdict", one.verdict ? JSON.stringify(one.verdict) : one.reason],
        ["model that answered", last.model], ["ended", last.finish], ["tokens in", last.tokens?.input], ["tokens out", last.tokens?.output],
        ["seconds", last.seconds?.toFixed(2)], ["requests", last.requests], ["cost in dollars", one.cost_usd],
        ...Object.entries(one.notes).map(([name, value]) => [named(name), typeof value === "object" ? JSON.stringify(value) : value])])));
  };

  const judged = (protocol, showings, answers) => element("section", { class: "protocol" },
    element("h2", {}, `Judged under ${protocol}`, element("span", { class: "soft" }, ` by ${[...new Set(showings.map((one) => one.judge))].join(", ")}`)),
    element("div", { class: "side" }, showings.map((one) => showing(one, answers))));

  const drawCase = async (number) => {
    const one = index.cases[number];
    const held = await block(Math.floor(number / index.together));
    if (state.case !== one[0]) return;
    const it = held.cases[number % index.together], item = held.items[it.item], place = found.indexOf(number);
    const shown = [...new Set(it.showings.flatMap((each) => each.shown))].map((each) => held.answers[each]);
    shown.sort((a, b) => (a.model < b.model ? -1 : 1));
    const step = (by, words, key) => {
      const other = place < 0 ? undefined : found[place + by];
      return element("a", { class: "button", "data-step": by, href: other === undefined ? null : address({ case: index.cases[other][0] }),
        "aria-disabled": other === undefined ? "true" : null }, words, element("kbd", {}, key));
    };
    const protocols = [...new Set(it.showings.map((each) => each.protocol))];
    casePage.replaceChildren(
      element("nav", { class: "case-bar", "aria-label": "Cases" },
        element("a", { class: "button", href: address({ case: "" }), "data-back": "" }, "Back to the list", element("kbd", {}, "Esc")),
        element("span", { class: "soft" }, place < 0 ? "not among those filtered" : `${(place + 1).toLocaleString("en")} of ${found.length.toLocaleString("en")}`),
        step(-1, "Previous", "k"), step(1, "Next", "j")),
      element("h1", {}, `Item ${item.label}`),
      element("p", { class: "lead" }, [item.category, item.task].filter(Boolean).join(" · "), " ", pill(...outcome(one)),
        one[5] & 2 && one[4] !== null ? pill("some without a verdict", "unsure") : "", speaking(one)),
      question(item),
      element("div", { class: "side" }, shown.map(answer)),
      ...protocols.map((name) => judged(name, it.showings.filter((each) => each.protocol === name), held.answers)));
    document.title = `Item ${item.label} · ${baseTitle}`;
    casePage.setAttribute("aria-label", `Item ${item.label}`);
  };

  const baseTitle = document.title;

  const view = () => {
    const before = state;
    state = read();
    const number = state.case ? index.cases.findIndex((one) => one[0] === state.case) : -1;
    if (!before.case && number >= 0) listScroll = scrollY;
    drawList();
    report.hidden = number >= 0;
    casePage.hidden = number < 0;
    if (number >= 0) {
      drawCase(number);
      scrollTo(0, 0);
      casePage.focus({ preventScroll: true });
      return;
    }
    document.title = baseTitle;
    casePage.replaceChildren();
    const listed = location.hash.includes("=") || location.hash === "#judgements";
    if (before.case && listed) {
      scrollTo(0, listScroll);
      rowsList.querySelector(`[data-case="${CSS.escape(before.case)}"]`)?.focus({ preventScroll: true });
    } else if (before.case) {
      byId(location.hash.slice(1))?.scrollIntoView(); // the browser looked for it while the report was hidden
    } else if (location.hash.includes("=") && before.page !== state.page) {
      byId("judgements").scrollIntoView();
    }
  };

  const change = (changes) => {
    history.replaceState(null, "", address({ page: 0, ...changes }));
    const scroll = scrollY;
    view();
    scrollTo(0, scroll);
  };

  const turn = (by) => { location.hash = address({ page: Math.max(0, state.page + by) }); };

  const walk = (by) => {
    if (state.case) {
      casePage.querySelector(`[data-step="${by}"][href]`)?.click();
      return;
    }
    const links = [...rowsList.querySelectorAll("a")], at = links.indexOf(document.activeElement);
    const next = links[at < 0 ? 0 : at + by];
    if (next) next.focus();
    else if (at >= 0 && !byId(by > 0 ? "after" : "before").disabled) turn(by);
  };

  const keys = {
    j: () => walk(1), k: () => walk(-1), ArrowRight: () => state.case && walk(1), ArrowLeft: () => state.case && walk(-1),
    "/": () => { if (state.case) location.hash = address({ case: "" }); fields.q.focus(); fields.q.select(); },
    Escape: () => { if (state.case) location.hash = address({ case: "" }); },
  };

  const heed = () => {
    for (const [name, field] of Object.entries(fields)) {
      field.addEventListener(name === "q" ? "input" : "change", () => change({ [name]: field.value }));
    }
    const form = fields.q.form;
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", (event) => { event.preventDefault(); change({ q: "", show: "", category: "", model: "" }); });
    byId("before").addEventListener("click", () => turn(-1));
    byId("after").addEventListener("click", () => turn(1));
    addEventListener("hashchange", view);
    addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const typing = event.target.matches("input, select, textarea");
      if (typing && event.key === "Escape") event.target.blur();
      if (typing || !keys[event.key]) return;
      if (event.key === "/") event.preventDefault();
      keys[event.key]();
    });
  };

  const theme = () => {
    const button = byId("theme"), root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)");
    const isDark = () => (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
    const say = () => { button.textContent = isDark() ? "Light" : "Dark"; button.setAttribute("aria-label", `Show in ${isDark() ? "light" : "dark"} colours`); };
    button.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; say(); });
    dark.addEventListener("change", say);
    button.hidden = false;
    say();
  };

  // On paper nothing can be unfolded: tables are, but not the prompts, which are long.
  const unfoldOnPaper = () => {
    let opened = [];
    addEventListener("beforeprint", () => {
      opened = [...document.querySelectorAll("details:not([open]):not(.prompt)")].filter((one) => !one.closest("[hidden]"));
      for (const one of opened) one.open = true;
    });
    addEventListener("afterprint", () => { for (const one of opened) one.open = false; });
  };

  const options = (field, names) => field.append(...names.map((name) => element("option", { value: name }, name)));

  const begin = async () => {
    theme();
    unfoldOnPaper();
    index = await unpacked("index");
    options(fields.category, [...new Set(index.items.map((item) => item[1]).filter(Boolean))].sort());
    options(fields.model, index.models);
    if (!index.cases.some((one) => faulty.speaks(one[5]))) fields.show.querySelector('[value="speaks"]').remove();
    fields.category.closest(".field").hidden = fields.category.options.length < 2;
    byId("browser").hidden = false;
    byId("closed").hidden = true;
    heed();
    view();
  };

  begin();
})();
