// What moves on the page: sections that are read again when the store changes, filters that live in the address, keys. Everything is drawn
// on the server; without this script the page shows the same, and stands still.
"use strict";
(() => {
  const body = document.body;
  const sections = document.getElementById("sections");
  if (!sections) return;
  const token = document.querySelector("meta[name=kiln-token]")?.content ?? "";
  const live = document.getElementById("live");
  const news = document.getElementById("news");
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // --- Sections: read again, and only what differs is changed, so that focus, scrolling, open folds and what is being typed stay.

  const keyOf = (node) => node.id || node.dataset?.trial || (node.nodeName === "OPTION" ? `option ${node.value}` : "");

  function morph(now, next) {
    if (now.isEqualNode(next)) return;
    if (now.nodeType !== next.nodeType || now.nodeName !== next.nodeName) {
      now.replaceWith(next);
      return;
    }
    if (now.nodeType !== Node.ELEMENT_NODE) {
      now.nodeValue = next.nodeValue;
      return;
    }
    // What came of sending stays until something else is sent.
    if (now.nodeName === "OUTPUT") return;
    // What the reader or this script has set.
    const kept = { DETAILS: ["open"], SECTION: ["tabindex"] }[now.nodeName] ?? [];
    for (const { name } of [...now.attributes]) {
      if (!next.hasAttribute(name) && !kept.includes(name)) now.removeAttribute(name);
    }
    for (const { name, value } of next.attributes) {
      if (now.getAttribute(name) !== value) now.setAttribute(name, value);
    }
    const chosen = now.nodeName === "SELECT" ? now.value : null;
    children(now, next);
    // A choice is one of a value and not of a place in the list.
    if (chosen !== null && now.value !== chosen && [...now.options].some((own) => own.value === chosen)) now.value = chosen;
  }

  function children(now, next) {
    const named = new Map();
    for (const node of now.childNodes) if (keyOf(node)) named.set(keyOf(node), node);
    let at = now.firstChild;
    for (const wanted of [...next.childNodes]) {
      const key = keyOf(wanted);
      let own = key ? named.get(key) : at;
      named.delete(key);
      while (!key && own && keyOf(own)) own = own.nextSibling;
      if (!own || own.nodeName !== wanted.nodeName) {
        now.insertBefore(wanted, at);
        continue;
      }
      if (own === at) at = at.nextSibling;
      else now.insertBefore(own, at);
      morph(own, wanted);
    }
    while (at) {
      const gone = at;
      at = at.nextSibling;
      gone.remove();
    }
  }

  function apply(read) {
    const next = document.createElement("div");
    for (const { html } of read.sections) {
      const held = document.createElement("template");
      held.innerHTML = html;
      next.append(held.content.firstElementChild);
    }
    enhance(next);
    children(sections, next);
    body.dataset.tag = read.tag;
    body.dataset.watch = read.watch;
    if (document.getElementById("title").textContent !== read.title) {
      document.getElementById("title").textContent = read.title;
      document.title = `${read.title} - kiln`;
    }
    contents(read.sections);
    roving();
  }

  function contents(list) {
    const links = document.querySelector("#contents ul");
    if (!links) return;
    const next = document.createElement("ul");
    for (const { id, title } of list) {
      const link = document.createElement("a");
      link.href = `#${id}`;
      link.textContent = title;
      const item = document.createElement("li");
      item.append(link);
      next.append(item);
    }
    morph(links, next);
  }

  let reading = null;
  let later = 0;
  let notBefore = 0;

  // News are read one after another, and not more often than the server can bear: a large study takes long to read.
  function soon() {
    if (later) return;
    const wait = Math.max(0, notBefore - performance.now());
    later = setTimeout(() => {
      later = 0;
      if (reading) {
        notBefore = performance.now() + 200;
        soon();
      } else {
        read(false);
      }
    }, wait);
  }

  // Reads the sections of the address as it is now. `moved`: somebody went there; else the store has changed.
  async function read(moved) {
    const begun = performance.now();
    reading?.abort();
    const mine = (reading = new AbortController());
    body.dataset.reading = moved ? "moved" : "news";
    try {
      const path = location.pathname.replace(/\/$/, "");
      const headers = moved ? {} : { "If-None-Match": `"${body.dataset.tag}"` };
      const answer = await fetch(`${path}/sections${location.search}`, { headers, signal: mine.signal, cache: "no-store" });
      if (answer.status === 304) return;
      const told = await answer.json();
      if (!answer.ok) {
        complain(told);
        return;
      }
      apply(told);
      if (moved) arrived();
      else tell(told.said);
      quietly();
    } catch (error) {
      if (error.name !== "AbortError") state("off", "no connection");
    } finally {
      if (reading === mine) {
        reading = null;
        delete body.dataset.reading;
        notBefore = performance.now() + Math.max(300, 3 * (performance.now() - begun));
      }
    }
  }

  // Fields of filters show the address. A browser that comes back to a page fills in what they held when it was left.
  const atAddress = () => all("form[method=get]", sections).forEach((form) => form.reset());
  addEventListener("pageshow", atAddress);

  // Somebody went somewhere: fields show the filter of the address, and the trial that was asked for is open.
  let opening = false;
  function arrived() {
    atAddress();
    if (!opening) return;
    opening = false;
    // Who opened a trial and has not begun to write means that trial.
    for (const form of all("form[data-send]", sections)) {
      if (form.elements.about && !form.elements.text.value) form.elements.about.selectedIndex = 0;
    }
    const fold = all("#trials details", sections).find((own) => own.firstElementChild.textContent.startsWith("Trial "));
    if (!fold) return;
    fold.open = true;
    fold.firstElementChild.focus();
  }

  // --- What is said: to whoever listens, and when something does not work.

  let saidAt = 0;
  function tell(words) {
    // Somebody who listens hears how it stands, and not every trial.
    if (!words || Date.now() - saidAt < 10000) return;
    saidAt = Date.now();
    news.textContent = words;
  }

  const wordsOf = (told) =>
    (told?.errors ?? []).map((one) => [one.message, one.label, one.hint && `hint: ${one.hint}`].filter(Boolean).join(". ")).join(" ");

  function complain(told) {
    let alert = document.getElementById("alert");
    if (!alert) {
      alert = document.createElement("p");
      alert.id = "alert";
      alert.setAttribute("role", "alert");
      sections.before(alert);
    }
    alert.textContent = wordsOf(told) || "The server did not answer as expected.";
  }

  const quietly = () => document.getElementById("alert")?.remove();

  function state(name, words) {
    live.dataset.state = name;
    live.querySelector(".words").textContent = words;
  }

  // --- News: from the server while the page is seen. A browser has six connections to a server: a page behind others needs none.

  let source = null;
  function listen() {
    if (source) return;
    source = new EventSource("/events");
    source.addEventListener("hello", () => {
      state("on", "live");
      soon();
    });
    source.addEventListener("changed", (event) => {
      const { studies, others } = JSON.parse(event.data);
      const mine = body.dataset.watch.split(" ");
      if (body.dataset.watch === "all" || studies.some((id) => mine.includes(id)) || (others && body.dataset.watch === "")) soon();
    });
    source.addEventListener("error", () => state("off", "reconnecting"));
  }

  function watch() {
    if (document.visibilityState === "visible") {
      listen();
    } else if (source) {
      source.close();
      source = null;
      state("off", "paused");
    }
  }
  document.addEventListener("visibilitychange", watch);
  addEventListener("pagehide", () => source?.close());

  // --- Filters and links: the address says what is shown.

  function go(address) {
    const to = new URL(address, location.href);
    history.pushState(null, "", to);
    read(true);
  }

  const isHere = (to) => to.origin === location.origin && to.pathname === location.pathname;

  sections.addEventListener("change", (event) => {
    const form = event.target.closest("form[method=get]");
    // One that asks for several choices at once is sent by its button.
    if (form && !("whole" in form.dataset)) form.requestSubmit();
  });

  sections.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.dataset.send) {
      event.preventDefault();
      send(form);
      return;
    }
    if (form.method !== "get") return;
    // A filter is one of this page, which may have another address than the one that the server calls it by.
    const to = new URL("whole" in form.dataset ? form.action : location.href);
    if (!isHere(to)) return;
    event.preventDefault();
    const chosen = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));
    const query = chosen.toString();
    if (to.search.slice(1) !== query || location.search.slice(1) !== query) go(to.pathname + (query ? `?${query}` : ""));
  });

  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const mark = event.target.closest("[data-trial]");
    if (mark) {
      open(mark);
      return;
    }
    const link = event.target.closest("#sections a[href]");
    if (!link) return;
    const to = new URL(link.href);
    if (isHere(to) && to.search !== location.search) {
      event.preventDefault();
      opening = to.searchParams.has("trial") && to.searchParams.get("trial") !== new URLSearchParams(location.search).get("trial");
      go(to);
    }
  });

  addEventListener("popstate", (event) => {
    // A jump within the page has the same query.
    if (location.search !== shown) read(true);
    shown = location.search;
  });
  let shown = location.search;
  const push = history.pushState.bind(history);
  history.pushState = (...args) => {
    push(...args);
    shown = location.search;
  };

  // A point stands for a trial: opening it shows the trial above the table.
  function open(mark) {
    const to = new URL(location.href);
    to.searchParams.set("trial", mark.dataset.trial);
    to.hash = "trials";
    opening = true;
    go(to);
  }

  async function send(form) {
    const fields = Object.fromEntries(new FormData(form));
    if (form.dataset.study) fields.study = form.dataset.study;
    if (fields.about) fields.about = JSON.parse(fields.about);
    const output = form.querySelector("output");
    const button = form.querySelector("button");
    button.disabled = true;
    try {
      const headers = { "Content-Type": "application/json", "X-Kiln-Token": token };
      const answer = await fetch(form.dataset.send, { method: "POST", headers, body: JSON.stringify(fields) });
      const told = await answer.json();
      output.textContent = !answer.ok ? wordsOf(told) : told.added ? "Added." : "It was here already.";
      if (answer.ok) {
        const name = form.elements.reviewer?.value;
        form.reset();
        if (name) form.elements.reviewer.value = name;
        soon();
      }
    } catch {
      output.textContent = "The server did not answer.";
    } finally {
      button.disabled = false;
    }
  }

  // --- Points and rows by keyboard: one stop for Tab in each plot, arrows among its points.

  function enhance(within) {
    for (const svg of all("svg", within)) {
      const marks = all("[data-trial]", svg);
      if (!marks.length) continue;
      // A picture has no parts to move among; a group has.
      svg.setAttribute("role", "group");
      svg.setAttribute("aria-label", svg.querySelector(":scope > title")?.textContent ?? "Plot");
      for (const mark of marks) {
        mark.setAttribute("role", "link");
        mark.setAttribute("aria-label", mark.querySelector("title")?.textContent ?? mark.dataset.trial);
        mark.setAttribute("tabindex", "-1");
      }
    }
  }

  // The stop is where somebody was last in the plot; at first its first point.
  const stops = new Map();
  function roving() {
    for (const svg of all("svg[role=group]", sections)) {
      const marks = all("[data-trial]", svg);
      const place = svg.getAttribute("aria-label");
      const stop = marks.find((mark) => mark.dataset.trial === stops.get(place)) ?? marks[0];
      for (const mark of marks) mark.setAttribute("tabindex", mark === stop ? "0" : "-1");
    }
  }

  function middle(node) {
    const { left, top, width, height } = node.getBoundingClientRect();
    return [left + width / 2, top + height / 2];
  }

  function step(mark, key) {
    const marks = all("[data-trial]", mark.ownerSVGElement);
    const upright = key === "ArrowUp" || key === "ArrowDown";
    const placed = marks.map((own, order) => ({ own, order, at: middle(own)[upright ? 1 : 0] }));
    placed.sort((a, b) => a.at - b.at || a.order - b.order);
    const last = placed.length - 1;
    const now = placed.findIndex(({ own }) => own === mark);
    const wanted = { Home: 0, End: last, ArrowLeft: now - 1, ArrowUp: now - 1, ArrowRight: now + 1, ArrowDown: now + 1 }[key];
    return placed[Math.max(0, Math.min(last, wanted))].own;
  }

  function focus(mark) {
    stops.set(mark.ownerSVGElement.getAttribute("aria-label"), mark.dataset.trial);
    roving();
    mark.focus({ preventScroll: false });
  }

  const ARROWS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"];

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const on = document.activeElement;
    const mark = on?.closest?.("[data-trial]");
    if (mark && ARROWS.includes(event.key)) {
      event.preventDefault();
      focus(step(mark, event.key));
      return;
    }
    if (mark && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      open(mark);
      return;
    }
    const row = on?.closest?.("tbody tr");
    if (row && on.matches("a") && ["ArrowUp", "ArrowDown", "Home", "End"].includes(event.key)) {
      const links = [...row.parentElement.rows].map((own) => own.querySelector("a")).filter(Boolean);
      const now = links.indexOf(row.querySelector("a"));
      const wanted = { ArrowUp: now - 1, ArrowDown: now + 1, Home: 0, End: links.length - 1 }[event.key];
      event.preventDefault();
      links[Math.max(0, Math.min(links.length - 1, wanted))].focus();
      return;
    }
    if (event.key === "Escape") hideTip();
    if (on?.matches?.("input, select, textarea") || document.querySelector("dialog[open]")) return;
    shortcut(event);
  });

  function shortcut(event) {
    const done = {
      "?": () => document.getElementById("keys").showModal(),
      j: () => section(1),
      k: () => section(-1),
      g: () => location.assign("/"),
      "/": () => sections.querySelector("form[method=get] select, form[method=get] input")?.focus(),
    }[event.key];
    if (!done) return;
    event.preventDefault();
    done();
  }

  function section(by) {
    const list = [...sections.children];
    const edge = document.querySelector("header.top").getBoundingClientRect().bottom;
    const tops = list.map((own) => own.getBoundingClientRect().top);
    const on = list.findIndex((own) => own === document.activeElement || own.contains(document.activeElement));
    const now = on >= 0 ? on : tops.filter((top) => top <= edge + 8).length - 1;
    const next = list[Math.max(0, Math.min(list.length - 1, now + by))];
    next.tabIndex = -1;
    next.focus({ preventScroll: true });
    next.scrollIntoView();
  }

  // --- What a point is, beside it.

  const tip = document.createElement("div");
  tip.id = "tip";
  tip.setAttribute("aria-hidden", "true");
  tip.hidden = true;
  body.append(tip);

  function showTip(mark) {
    tip.textContent = mark.getAttribute("aria-label");
    tip.hidden = false;
    const [x, y] = middle(mark);
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.max(8, Math.min(x - width / 2, document.documentElement.clientWidth - width - 8));
    const above = y - height - 12;
    tip.style.left = `${left}px`;
    tip.style.top = `${above > 8 ? above : y + 12}px`;
  }
  function hideTip() {
    tip.hidden = true;
  }
  const tipped = (event) => event.target.closest?.("[data-trial]");
  sections.addEventListener("pointerover", (event) => (tipped(event) ? showTip(tipped(event)) : hideTip()));
  sections.addEventListener("pointerleave", hideTip);
  sections.addEventListener("focusin", (event) => {
    const mark = tipped(event);
    if (mark && mark.matches(":focus-visible")) showTip(mark);
    else hideTip();
  });
  addEventListener("scroll", hideTip, { passive: true, capture: true });

  // --- Commands are copied by a button.

  sections.addEventListener("dblclick", (event) => {
    const command = event.target.closest("pre.command, td code");
    if (command) getSelection().selectAllChildren(command);
  });

  const button = document.getElementById("show-keys");
  button.hidden = false;
  button.addEventListener("click", () => document.getElementById("keys").showModal());

  enhance(sections);
  roving();
  watch();
})();
