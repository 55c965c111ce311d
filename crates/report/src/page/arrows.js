// Arrows run along rows and between columns, so that they cross no text: a row holds one event.
"use strict";
const NAMES = ["rf", "co", "fr", "sw", "hb"];
// A gutter has at most so many lanes, so far apart.
const LANES = 6, APART = 6;

// The edges to draw, each with its rows and the gutter that it goes down in.
function edgesOf(view, at, shown, cycle) {
  const edges = [], seen = new Set();
  const add = (name, from, to, why) => {
    const a = at.get(from), b = at.get(to);
    if (a === undefined || b === undefined || a === b) return;
    // Edges between the same two folds are one.
    const key = name + " " + a + " " + b;
    if (seen.has(key)) return;
    seen.add(key);
    edges.push({ name, from, to, a, b, why });
  };
  if (shown.has("why")) cycle.forEach(step => add(step.name, step.from, step.to, true));
  for (const name of NAMES)
    if (shown.has(name)) for (const [from, to] of view.edges[name] || []) add(name, from, to, false);
  return edges;
}

// Gives each edge a gutter (beside its target) and a lane in it; says how many lanes each gutter has.
function laneEdges(edges, rows) {
  const lanes = [], ends = [];
  for (const edge of edges) {
    const from = rows[edge.a].thread, to = rows[edge.b].thread;
    edge.gutter = from < to ? to : from === to ? to : to + 1;
    // An edge that leaves from the left goes down on the left.
    edge.side = from < to ? "right" : "left";
  }
  const order = [...edges].sort((x, y) => Math.min(x.a, x.b) - Math.min(y.a, y.b));
  for (const edge of order) {
    const low = Math.min(edge.a, edge.b), high = Math.max(edge.a, edge.b);
    const own = ends[edge.gutter] || (ends[edge.gutter] = []);
    let lane = own.findIndex(end => end < low);
    if (lane < 0) lane = own.length < LANES ? own.length : edge.a % LANES;
    own[lane] = high;
    edge.lane = lane;
    lanes[edge.gutter] = Math.max(lanes[edge.gutter] || 0, lane + 1);
  }
  return lanes;
}

// The path of an edge, with round corners.
function pathOf(edge, rows, layout) {
  const { columns } = layout;
  const y1 = edge.a * ROW + ROW / 2, y2 = edge.b * ROW + ROW / 2;
  const source = columns[rows[edge.a].thread], target = columns[rows[edge.b].thread];
  const right = edge.gutter === columns.length;
  const lane = right ? columns[columns.length - 1].left + columns[columns.length - 1].width + 8 + APART * edge.lane
    : columns[edge.gutter].left - 8 - APART * edge.lane;
  const x1 = lane > source.left ? source.left + Math.min(source.width, edge.width || source.width) : source.left;
  const x2 = lane > target.left ? target.left + Math.min(target.width, edge.end || target.width) : target.left;
  const r = Math.min(6, Math.abs(y2 - y1) / 2), down = y2 > y1 ? r : -r;
  const in1 = lane > x1 ? r : -r, in2 = x2 > lane ? r : -r;
  const d = `M${x1},${y1} H${lane - in1} Q${lane},${y1} ${lane},${y1 + down} V${y2 - down} Q${lane},${y2} ${lane + in2},${y2} H${x2}`;
  const tip = x2 > lane ? -1 : 1;
  return { d: d + ` M${x2 + 5 * tip},${y2 - 3.5} L${x2},${y2} L${x2 + 5 * tip},${y2 + 3.5}`, ...labelAt(x1, y1, lane, y2) };
}

// The name of an edge stands on its way out of the row, or beside the way down if that is short.
function labelAt(x1, y1, lane, y2) {
  return Math.abs(lane - x1) > 34 ? { x: (x1 + lane) / 2 - 6, y: y1 - 3 } : { x: lane - 14, y: (y1 + y2) / 2 + 3 };
}

// Draws the edges that touch the rows from `first` to `last`.
function drawArrows(svg, edges, rows, layout, first, last, hot) {
  const parts = [];
  let drawn = 0;
  for (const edge of edges) {
    if (Math.max(edge.a, edge.b) < first || Math.min(edge.a, edge.b) > last) continue;
    if (++drawn > 1500) break;
    const near = hot.size > 0 && (hot.has(edge.from) || hot.has(edge.to));
    const style = near ? "hot" : hot.size > 0 ? "cold" : "";
    const { d, x, y } = pathOf(edge, rows, layout);
    const color = edge.why ? "why" : edge.name;
    parts.push(`<path class="edge ${edge.why ? "why" : ""} ${style}" data-name="${edge.name}" data-from="${edge.from}" data-to="${edge.to}" style="--c: var(--${color})" d="${d}"/>`);
    if ((near || edge.why) && style !== "cold")
      parts.push(`<text class="edge" style="--c: var(--${color})" x="${x}" y="${y}">${escapeText(edge.name)}</text>`);
  }
  svg.innerHTML = parts.join("");
}

function escapeText(text) {
  return String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}
