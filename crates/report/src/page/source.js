// The source beside the execution, with colours; it follows the event that is picked.
"use strict";
const WORDS = new Set(("alignas as async auto bool break case catch char class const constexpr continue default delete do double dyn else enum exists extern false fn float for forall forbid goto if impl in inline init int let locations long loop match mod move mut namespace new nullptr NULL operator pub ref register requires return self short signed sizeof static struct super switch template this thread_local transition trait true type typedef typename union unsafe unsigned use using var array virtual void volatile where while _Atomic _Thread_local").split(" "));
const TOKEN = /(\/\/.*|\/\*[^]*?\*\/|\(\*[^]*?\*\))|("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)')|(\b\d[\w.]*)|([A-Za-z_]\w*)/g;

// Lines of HTML.
function colored(text) {
  let html = "", last = 0;
  for (const token of text.matchAll(TOKEN)) {
    html += escapeText(text.slice(last, token.index));
    last = token.index + token[0].length;
    const kind = token[1] ? "c" : token[2] ? "s" : token[3] ? "n" : WORDS.has(token[4]) ? "w" : "";
    // A comment over several lines is coloured line by line.
    html += kind ? token[0].split("\n").map(line => `<span class="${kind}">${escapeText(line)}</span>`).join("\n") : escapeText(token[0]);
  }
  return (html + escapeText(text.slice(last))).split("\n");
}

function showFile(file, view, data) {
  const code = document.getElementById("code");
  if (code.dataset.file === file && code.dataset.view === String(view.index)) return;
  code.dataset.file = file;
  code.dataset.view = view.index;
  const used = new Set(view.events.filter(event => event.file === file).map(event => event.line));
  const bad = new Set(view.stacks.flatMap(stack => stack.frames.filter(frame => !frame.library).slice(0, 1)).filter(frame => frame.file === file).map(frame => frame.line));
  view.events.forEach(event => { if (event.marked && event.file === file) bad.add(event.line); });
  const lines = data.sources[file] === undefined ? [`<span class="c">${escapeText(file)} cannot be read</span>`] : colored(data.sources[file]);
  if (lines.length > 1 && lines[lines.length - 1] === "") lines.pop();
  code.innerHTML = lines.map((line, at) => {
    const number = at + 1;
    const names = [used.has(number) ? "used" : "", bad.has(number) ? "bad" : ""].join(" ").trim();
    return `<div data-line="${number}"${names ? ` class="${names}"` : ""}><span class="number">${number}</span>${line}</div>`;
  }).join("");
  for (const button of document.querySelectorAll("#files button")) button.classList.toggle("on", button.dataset.file === file);
  const first = [...bad][0] || Math.min(...used);
  if (isFinite(first)) toLine(first, null);
}

// Marks a line, and brings it into sight.
function toLine(number, mark) {
  const code = document.getElementById("code");
  if (mark) code.querySelectorAll("." + mark).forEach(line => line.classList.remove(mark));
  const line = code.children[number - 1];
  if (!line) return;
  if (mark) line.classList.add(mark);
  const top = line.offsetTop - code.offsetTop, bottom = top + line.offsetHeight;
  if (top < code.scrollTop + 20 || bottom > code.scrollTop + code.clientHeight - 20) code.scrollTop = top - code.clientHeight / 2;
}
