// Which rows an execution has: events, and folds that stand for several of them.
"use strict";
const ROW = 24;

// The rows of a view. `open` holds the first ids of the folds that the user opened, `keep` says which events count.
function rowsOf(view, fold, open, keep) {
  const rows = [], at = new Map();
  const events = view.events;
  const hidden = fold ? hiddenEvents(view) : new Set();
  let i = 0;
  while (i < events.length) {
    const first = events[i];
    if (keep && !keep(first)) { i++; continue; }
    let end = i;
    while (end < events.length && hidden.has(events[end].id) && events[end].thread === first.thread && !keep) end++;
    if (end > i && !open.has(first.id)) {
      const members = events.slice(i, end);
      members.forEach(event => at.set(event.id, rows.length));
      rows.push({ fold: members, thread: first.thread, id: first.id });
      i = end;
    } else {
      const stop = Math.max(end, i + 1);
      for (; i < stop; i++) { at.set(events[i].id, rows.length); rows.push({ event: events[i], thread: events[i].thread, id: events[i].id }); }
    }
  }
  return { rows, at };
}

// Events that explain nothing, and the middle of loops that go round and round.
function hiddenEvents(view) {
  const hidden = new Set(view.events.filter(event => event.fold).map(event => event.id));
  const threads = new Map();
  view.events.forEach((event, at) => {
    const last = threads.get(event.thread);
    if (last && last.end === at) { last.list.push(event); last.end++; }
    else { if (last) foldLoops(last.list, hidden); threads.set(event.thread, { list: [event], end: at + 1 }); }
  });
  for (const { list } of threads.values()) foldLoops(list, hidden);
  return hidden;
}

function foldLoops(list, hidden) {
  const sign = event => event.file + ":" + event.line + ":" + event.text;
  const signs = list.map(sign);
  for (let i = 0; i < list.length; i++)
    for (let period = 1; period <= 8; period++) {
      let same = 0;
      while (i + same + period < list.length && signs[i + same] === signs[i + same + period]) same++;
      const rounds = Math.floor(same / period) + 1;
      if (rounds < 4) continue;
      // The first and the last round stay.
      for (let at = i + period; at < i + (rounds - 1) * period; at++)
        if (!list[at].marked) hidden.add(list[at].id);
      i += rounds * period - 1;
      break;
    }
}

// Where the columns are: wide enough for their text, if there is room.
function columnsOf(view, rows, lanes, room) {
  const measure = columnsOf.context || (columnsOf.context = document.createElement("canvas").getContext("2d"));
  measure.font = getComputedStyle(document.getElementById("rows")).font;
  const ids = room < 700 ? 50 : 72;
  const widths = view.threads.map(thread => measure.measureText(thread.id + " " + thread.name).width * 1.15 + 20);
  for (const { event } of rows.slice(0, 4000)) {
    if (!event) continue;
    const text = (event.line ? event.line + "  " : "") + event.text + (event.rf ? "  ← " + event.rf : "");
    widths[event.thread] = Math.max(widths[event.thread], measure.measureText(text).width + 36);
  }
  const gutters = view.threads.map((_, at) => 16 + APART * (lanes[at] || 0));
  const spare = room - ids - gutters.reduce((a, b) => a + b, 0) - 16;
  const most = Math.max(150, spare / Math.max(1, view.threads.length), Math.min(...widths));
  const total = widths.reduce((a, b) => a + b, 0);
  const cap = Math.max(460, spare / Math.max(1, view.threads.length));
  const fitted = widths.map(width => Math.min(total <= spare ? width : Math.min(width, Math.max(most, 200)), cap));
  let x = ids;
  const columns = fitted.map((width, at) => { const left = x + gutters[at]; x = left + width; return { left, width, gutter: gutters[at] }; });
  return { columns, total: x + 16 + APART * (lanes[view.threads.length] || 0) };
}
