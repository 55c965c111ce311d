// The panes below the source: why a model allows or forbids the execution, the event that is picked, calls.
"use strict";

// po, rf, co, fr and whatever else has no parts: what can be drawn.
function leaves(steps) {
  return steps.flatMap(step => (!isLeaf(step) ? leaves(step.parts) : step.from === step.to ? [] : [step]));
}

// That fr is rf backwards and then co needs no saying.
function isLeaf(step) { return !step.parts || /^(fr|rf|co)[ei]?$/.test(step.name); }

// The cycle that says most of a view.
function cycleOf(view) {
  for (const why of view.why.filter(why => !why.with)) {
    const broken = why.axioms.find(axiom => axiom.broken && axiom.broken.length);
    if (broken) return leaves(broken.broken);
  }
  const weak = view.why.find(why => why.weak.length);
  return weak ? leaves(weak.weak) : [];
}

function whyPane(view) {
  const parts = view.why.map(why => {
    let html = why.with ? `<p class="soft">With ${linked(why.with)}:</p>` : "";
    for (const axiom of why.axioms.filter(axiom => axiom.broken))
      html += `<h3><span class="no">✗ ${escapeText(why.model)} forbids it:</span> ${escapeText(axiom.name)}</h3><code>${escapeText(axiom.text)}</code>${steps(axiom.broken)}`;
    if (why.allowed) {
      html += `<h3><span class="ok">✓ ${escapeText(why.model)} allows it</span></h3><p>It keeps every axiom: ${why.axioms.map(axiom => `<span title="${escapeText(axiom.text)}">${escapeText(axiom.name)}</span>`).join(", ")}.</p>`;
      if (view.interleaves) html += "<p>The rows are an interleaving of the threads: each read returns what was written last.</p>";
      else if (why.weak.length) html += `<p>No interleaving of the threads does this:</p>${steps(leaves(why.weak))}`;
      if (!view.interleaves) html += why.said.map(line => `<p>${linked(line)}</p>`).join("");
    }
    return html;
  });
  return parts.join("") || '<p class="soft">There is nothing to explain here.</p>';
}

function steps(list) {
  // A path of no edges says nothing.
  return `<ul>${list.filter(step => step.parts || step.from !== step.to).map(step => `<li><span data-from="${step.from}" data-to="${step.to}"><span class="rel">${escapeText(step.name)}</span> <code>${step.from} → ${step.to}</code></span>${isLeaf(step) ? "" : steps(step.parts)}</li>`).join("")}</ul>`;
}

// Names of events become links.
function linked(text) {
  return escapeText(text).replace(/\bT\d+\.\d+\b/g, id => `<a data-event="${id}">${id}</a>`);
}

function eventPane(view, event) {
  if (!event) return '<p class="soft">Point at an event, or click it to keep it. ↑ and ↓ step through them.</p>';
  const row = (name, value) => `<tr><td>${name}</td><td>${value}</td></tr>`;
  const ids = list => list.map(id => (id === "init" ? "init" : `<a data-event="${id}">${id}</a>`)).join(", ");
  const into = name => (view.edges[name] || []).filter(edge => edge[1] === event.id).map(edge => edge[0]);
  const out = name => (view.edges[name] || []).filter(edge => edge[0] === event.id).map(edge => edge[1]);
  let html = `<h3 class="mono">${escapeText(event.id)}  ${escapeText(event.text)}</h3><table>`;
  const thread = view.threads[event.thread];
  html += row("thread", escapeText(thread.id + " " + thread.name));
  if (event.line) html += row("at", escapeText(event.file + ":" + event.line));
  if (event.rf) html += row("reads from", ids([event.rf]));
  const facts = [["read by", out("rf")], ["overwritten by", out("co")], ["overwrites", into("co")], ["does not see", out("fr")], ["synchronises with", out("sw")], ["after, by sw", into("sw")], ["happens after", into("hb")]];
  for (const [name, list] of facts) if (list.length) html += row(name, ids(list));
  for (const [name, value] of event.detail || []) html += row(escapeText(name), `<span class="mono">${escapeText(value).replace(/\n/g, "<br>")}</span>`);
  html += "</table>";
  return html + (event.stack ? frames("called from", event.stack) : "");
}

function callsPane(view) {
  return view.stacks.map(stack => frames(stack.what, stack.frames)).join("") || '<p class="soft">No calls are known.</p>';
}

function frames(what, list) {
  return `<h3>${linked(what)}</h3><ul>${list.map(frame => `<li class="${frame.library ? "soft" : ""}"><span data-file="${escapeText(frame.file || "")}" data-line="${frame.line}">${escapeText(frame.function)} <code class="soft">${escapeText((frame.file || "").split("/").pop())}:${frame.line}</code></span></li>`).join("")}</ul>`;
}
