// The page: what is shown, and what the pointer and the keys do.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
data.views.forEach((view, index) => { view.index = index; view.byId = new Map(view.events.map(event => [event.id, event])); });
const $ = id => document.getElementById(id);
const state = { view: null, shown: new Set(["rf"]), fold: true, open: new Set(), query: "", only: false, hover: null, pin: null, tab: "why", rows: [], at: new Map(), edges: [], layout: null, matches: [] };

function begin() {
  $("title").textContent = data.title;
  $("verdict").textContent = data.verdict;
  $("verdict").className = data.verdict;
  $("notes").innerHTML = data.notes.map(note => `<p>${escapeText(note)}</p>`).join("");
  $("help").hidden = !data.help;
  $("help").textContent = data.help || "";
  $("facts").innerHTML = data.facts.map(([name, value]) => `<span>${escapeText(name)} <b>${escapeText(value)}</b></span>`).join("");
  try { const theme = localStorage.getItem("porf-theme"); if (theme) document.documentElement.dataset.theme = theme; } catch { /* a page from a file may keep nothing */ }
  if (!data.views.length) { document.body.classList.add("plain", "bare"); return; }
  $("chooser").hidden = data.views.length < 2;
  const groups = new Map();
  data.views.forEach(view => groups.set(view.group, [...(groups.get(view.group) || []), view]));
  $("views").innerHTML = [...groups].map(([name, list]) => {
    const options = list.map(view => `<option value="${view.index}">${escapeText(view.name)}</option>`).join("");
    return name ? `<optgroup label="${escapeText(name)}">${options}</optgroup>` : options;
  }).join("");
  show(0);
}

function show(index) {
  const view = data.views[Math.max(0, Math.min(data.views.length - 1, index))];
  Object.assign(state, { view, hover: null, pin: null, open: new Set() });
  $("views").value = view.index;
  document.body.classList.toggle("plain", !view.events.length);
  const cycle = cycleOf(view);
  if (cycle.length && view.events.length <= 60) state.shown.add("why"); else state.shown.delete("why");
  const order = view.events.length && view.edges.co ? (view.interleaves ? "The rows are an interleaving." : "No interleaving of the threads does this; the rows respect po and rf as far as they can.") : "";
  $("said").innerHTML = (view.tone && view.tone !== "violated" ? `<span class="${view.tone}">${view.tone}</span> · ` : "") + [...view.notes, order].filter(Boolean).map(escapeText).join(" · ");
  const chips = NAMES.filter(name => (view.edges[name] || []).length).map(name => [name, view.edges[name].length]);
  if (cycle.length) chips.unshift(["why", cycle.length]);
  $("relations").innerHTML = chips.map(([name, count], at) => `<button class="relation" data-name="${name}" style="--c: var(--${name})" title="key ${at + 1}">${name === "why" ? "cycle" : name}<small>${count}</small></button>`).join("");
  $("files").innerHTML = view.files.map(file => `<button data-file="${escapeText(file)}" title="${escapeText(file)}">${escapeText(file.split("/").pop())}</button>`).join("");
  const tabs = [["why", "why", view.why.length], ["event", "event", view.events.length], ["calls", "calls", view.stacks.length]].filter(tab => tab[2]);
  $("tabs").innerHTML = tabs.map(([id, name]) => `<button data-tab="${id}">${name}</button>`).join("");
  $("details").hidden = !tabs.length;
  if (!tabs.some(tab => tab[0] === state.tab) || state.tab === "event") state.tab = tabs.length ? tabs[0][0] : "";
  $("source").hidden = !view.files.length;
  $("side").hidden = !view.files.length && !tabs.length;
  if (view.files.length) showFile(view.files[0], view, data);
  arrange();
  $("scroll").scrollTop = 0;
  const marked = state.rows.findIndex(row => row.event && row.event.marked);
  if (marked >= 0) toRow(marked);
  // The state after each step is what such a view is for.
  if (!view.why.length && view.events.length && view.events[0].detail) pin(view.events[0].id, true);
  detail();
}

// What there is to draw has changed.
function arrange() {
  const { view } = state;
  const words = state.query.toLowerCase().split(/\s+/).filter(Boolean);
  const text = event => `${event.id} ${event.text} ${event.line || ""} ${view.threads[event.thread].name}`.toLowerCase();
  const matches = words.length ? event => words.every(word => text(event).includes(word)) : null;
  state.match = matches;
  Object.assign(state, rowsOf(view, state.fold, state.open, state.only ? matches : null));
  state.matches = matches ? state.rows.flatMap((row, at) => (row.event ? matches(row.event) : row.fold.some(matches)) ? [at] : []) : [];
  $("matches").textContent = words.length ? String(state.matches.length) : "";
  state.edges = edgesOf(view, state.at, state.shown, cycleOf(view));
  const lanes = laneEdges(state.edges, state.rows);
  state.layout = columnsOf(view, state.rows, lanes, $("scroll").clientWidth);
  for (const chip of document.querySelectorAll(".relation")) chip.classList.toggle("on", state.shown.has(chip.dataset.name));
  $("heads").style.width = $("rows").style.width = Math.max(state.layout.total, $("scroll").clientWidth) + "px";
  $("heads").innerHTML = '<b class="corner"></b>' + view.threads.map((thread, at) => `<div style="left:${state.layout.columns[at].left}px;width:${state.layout.columns[at].width}px" title="${escapeText(thread.name)}"><span>${escapeText(thread.id)}</span>${escapeText(thread.name)}</div>`).join("");
  $("rows").style.height = state.rows.length * ROW + 40 + "px";
  draw();
}

// Draws the rows in sight and a few more.
function draw(all) {
  const scroll = $("scroll"), { rows, layout, view } = state;
  const first = all ? 0 : Math.max(0, Math.floor((scroll.scrollTop - 34) / ROW) - 12);
  const last = all ? rows.length - 1 : Math.min(rows.length - 1, Math.ceil((scroll.scrollTop + scroll.clientHeight) / ROW) + 12);
  const hot = new Set([state.hover, state.pin].filter(Boolean));
  const near = new Set();
  if (hot.size) for (const edge of state.edges) { if (hot.has(edge.from)) near.add(edge.to); if (hot.has(edge.to)) near.add(edge.from); }
  const matches = new Set(state.matches);
  const html = [];
  for (let at = first; at <= last; at++) {
    const row = rows[at], column = layout.columns[row.thread];
    const place = `left:${column.left}px;max-width:${column.width}px`;
    const names = ["row"];
    if (row.id === state.hover) names.push("hover");
    if (row.id === state.pin) names.push("pin");
    else if (near.has(row.id)) names.push("near");
    if (matches.has(at)) names.push("match");
    let cell;
    if (row.event) {
      const event = row.event, line = event.library ? "lib" : event.line || "";
      cell = `<span class="cell ${event.kind}${event.marked ? " marked" : ""}" style="${place}" title="${escapeText(event.text)}">${line ? `<span class="ln">${line}</span>` : ""}${textOf(event)}${event.rf ? `<span class="from">← ${event.rf}</span>` : ""}</span>`;
    } else {
      cell = `<span class="cell folded" style="${place}" title="click to open">… ${row.fold.length} event${row.fold.length === 1 ? "" : "s"}</span>`;
    }
    html.push(`<div class="${names.join(" ")}" style="top:${at * ROW}px" data-row="${at}" data-id="${row.id}"><span class="id">${row.event ? row.id : ""}</span>${cell}</div>`);
  }
  const lives = layout.columns.map(column => `<i class="life" style="left:${column.left + 1}px"></i>`).join("");
  const box = $("rows");
  box.querySelectorAll(".row, .life").forEach(old => old.remove());
  box.insertAdjacentHTML("afterbegin", lives + html.join(""));
  // Arrows end where the text does.
  const ends = new Map();
  box.querySelectorAll(".row").forEach(row => ends.set(Number(row.dataset.row), row.lastChild.offsetWidth + 3));
  for (const edge of state.edges) { edge.width = ends.get(edge.a); edge.end = ends.get(edge.b); }
  drawArrows($("arrows"), state.edges, rows, layout, first, last, hot);
}

function textOf(event) {
  const mode = /^(.*) (rlx|acq|rel|acqrel|acq_rel|sc|na)$/.exec(event.text);
  return mode ? `${escapeText(mode[1])} <span class="mode">${mode[2]}</span>` : escapeText(event.text);
}

// The event that everything follows: the one under the pointer, or the pinned one.
function current() { return state.view.byId.get(state.hover || state.pin); }

function follow() {
  const event = current();
  $("code").querySelectorAll(".pick, .pin").forEach(line => line.classList.remove("pick", "pin"));
  if (event && event.line && !event.library) { showFile(event.file, state.view, data); toLine(event.line, event.id === state.pin ? "pin" : "pick"); }
  if (state.tab === "event") detail();
}

function detail() {
  for (const tab of document.querySelectorAll("#tabs button")) tab.classList.toggle("on", tab.dataset.tab === state.tab);
  const { view } = state;
  $("detail").innerHTML = state.tab === "why" ? whyPane(view) : state.tab === "event" ? eventPane(view, current()) : state.tab === "calls" ? callsPane(view) : "";
}

function hover(id) { if (state.hover !== id) { state.hover = id; draw(); follow(); } }

function pin(id, tab) {
  state.pin = id;
  state.hover = null;
  if (tab && id) state.tab = "event";
  if (id && !state.at.has(id)) { state.only = $("only").checked = false; arrange(); }
  if (id) toRow(state.at.get(id));
  draw();
  follow();
  detail();
}

function toRow(at) {
  const scroll = $("scroll"), top = at * ROW;
  if (top < scroll.scrollTop + ROW || top > scroll.scrollTop + scroll.clientHeight - 34 - 3 * ROW) scroll.scrollTop = top - scroll.clientHeight / 2;
  const { left, width } = state.layout.columns[state.rows[at].thread];
  if (left < scroll.scrollLeft + 80 || left + width > scroll.scrollLeft + scroll.clientWidth) scroll.scrollLeft = Math.max(0, left + width / 2 - scroll.clientWidth / 2);
}

// To the next event up or down, of the same thread if `own`.
function step(by, own) {
  const { rows } = state;
  let at = state.pin && state.at.has(state.pin) ? state.at.get(state.pin) : by > 0 ? -1 : rows.length;
  const thread = own && rows[at] ? rows[at].thread : null;
  do at += by; while (rows[at] && (!rows[at].event || (thread !== null && rows[at].thread !== thread)));
  if (rows[at]) pin(rows[at].id, true);
}

function nextMatch(by) {
  if (!state.matches.length) return;
  const here = state.pin && state.at.has(state.pin) ? state.at.get(state.pin) : by > 0 ? -1 : Infinity;
  const next = by > 0 ? state.matches.find(at => at > here) : state.matches.findLast(at => at < here);
  const row = state.rows[next === undefined ? state.matches[by > 0 ? 0 : state.matches.length - 1] : next];
  if (row.fold) { state.open.add(row.id); arrange(); }
  pin(row.id, true);
}

function toggle(name) {
  if (!state.shown.delete(name)) state.shown.add(name);
  arrange();
}

function theme() {
  const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  try { localStorage.setItem("porf-theme", document.documentElement.dataset.theme); } catch { /* as above */ }
}

function legend() {
  const relations = [["rf", "reads from: a write, and what reads it"], ["co", "coherence: a write, and the next to the same location"], ["fr", "from-read: a read, and the write that overwrites what it read"], ["sw", "synchronises with"], ["hb", "happens before, beyond program order; what follows from it is left out"], ["why", "the cycle that the explanation names"]];
  const keys = [["↑ ↓", "step through the events"], ["← →", "step through the events of a thread"], ["click", "keep an event; open a fold"], ["Esc", "let go"], ["/", "search; Enter for the next"], ["1 … 6", "arrows on and off"], ["f", "fold"], ["[ ]", "previous and next execution"], ["w e c", "why, event, calls"], ["d", "light or dark"], ["?", "this"]];
  $("legend").innerHTML = `<h2>Arrows</h2><table>${relations.map(([name, text]) => `<tr><td class="mono" style="color:var(--${name})">━ ${name === "why" ? "cycle" : name}</td><td>${text}</td></tr>`).join("")}</table><p class="soft">A row is an event; time runs down. ← names the write that a read reads from. Events in a red frame are those that the violation is about.</p><h2>Keys</h2><table>${keys.map(([key, text]) => `<tr><td><kbd>${key}</kbd></td><td>${text}</td></tr>`).join("")}</table>`;
  $("legend").showModal();
}

$("scroll").addEventListener("scroll", () => { if (!begin.waiting) { begin.waiting = true; requestAnimationFrame(() => { begin.waiting = false; if (state.view) draw(); }); } });
$("rows").addEventListener("mouseover", event => { const row = event.target.closest(".row"); if (row) hover(row.dataset.id); });
$("rows").addEventListener("mouseleave", () => hover(null));
$("rows").addEventListener("click", event => {
  const row = event.target.closest(".row");
  if (!row) return;
  const { fold, id } = state.rows[row.dataset.row];
  if (fold) { state.open.add(id); arrange(); } else pin(state.pin === id ? null : id, true);
});
$("relations").addEventListener("click", event => { const chip = event.target.closest(".relation"); if (chip) toggle(chip.dataset.name); });
$("files").addEventListener("click", event => { if (event.target.dataset.file) showFile(event.target.dataset.file, state.view, data); });
$("tabs").addEventListener("click", event => { if (event.target.dataset.tab) { state.tab = event.target.dataset.tab; detail(); } });
$("detail").addEventListener("click", event => {
  const link = event.target.closest("[data-event], [data-from], [data-line]");
  if (!link) return;
  if (link.dataset.event) pin(link.dataset.event, false);
  else if (link.dataset.from) pin(link.dataset.from === "init" ? link.dataset.to : link.dataset.from, false);
  else if (link.dataset.file) { showFile(link.dataset.file, state.view, data); toLine(Number(link.dataset.line), "pin"); }
});
$("search").addEventListener("input", event => { state.query = event.target.value; arrange(); if (state.matches.length) toRow(state.matches[0]); });
$("only").addEventListener("change", event => { state.only = event.target.checked; arrange(); });
$("fold").addEventListener("change", event => { state.fold = event.target.checked; state.open = new Set(); arrange(); });
$("views").addEventListener("change", event => show(Number(event.target.value)));
$("before").addEventListener("click", () => show(state.view.index - 1));
$("after").addEventListener("click", () => show(state.view.index + 1));
$("theme").addEventListener("click", theme);
$("keys").addEventListener("click", legend);
addEventListener("resize", () => { if (state.view) arrange(); });
addEventListener("beforeprint", () => { if (state.view) draw(true); });
addEventListener("afterprint", () => { if (state.view) draw(); });
addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || !state.view) return;
  if (event.target.id === "search") {
    if (event.key === "Enter") nextMatch(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") { event.target.value = state.query = ""; event.target.blur(); arrange(); }
    return;
  }
  if (event.target.tagName === "SELECT" || $("legend").open) return;
  const chips = document.querySelectorAll(".relation");
  const keys = {
    ArrowDown: () => step(1), ArrowUp: () => step(-1), j: () => step(1), k: () => step(-1), ArrowRight: () => step(1, true), ArrowLeft: () => step(-1, true),
    Escape: () => pin(null), "/": () => $("search").focus(), n: () => nextMatch(1), N: () => nextMatch(-1), f: () => $("fold").click(), d: theme, "?": legend,
    "[": () => show(state.view.index - 1), "]": () => show(state.view.index + 1),
    w: () => { state.tab = "why"; detail(); }, e: () => { state.tab = "event"; detail(); }, c: () => { state.tab = "calls"; detail(); },
  };
  if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  else if (chips[Number(event.key) - 1]) toggle(chips[Number(event.key) - 1].dataset.name);
});
begin();
