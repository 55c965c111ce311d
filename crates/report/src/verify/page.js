// Draws an arrow from each write to what reads from it, and shows the source line of an event.
const graphs = [...document.querySelectorAll(".graph")];
const byId = (graph, id) => graph.querySelector(`[data-id="${id}"]`);
function draw(graph) {
  const svg = graph.querySelector("svg");
  svg.querySelectorAll("path.rf").forEach(path => path.remove());
  const box = graph.getBoundingClientRect();
  for (const read of graph.querySelectorAll("[data-rf]")) {
    const write = byId(graph, read.dataset.rf);
    if (!write || write.dataset.thread === read.dataset.thread) continue;
    const from = write.getBoundingClientRect(), to = read.getBoundingClientRect();
    const right = from.left < to.left;
    const x1 = (right ? from.right : from.left) - box.left, x2 = (right ? to.left : to.right) - box.left;
    const y1 = (from.top + from.bottom) / 2 - box.top, y2 = (to.top + to.bottom) / 2 - box.top;
    const bend = (right ? 1 : -1) * Math.max(24, Math.abs(x2 - x1) / 2);
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`);
    path.setAttribute("class", "rf");
    path.setAttribute("marker-end", "url(#head)");
    path.dataset.to = read.dataset.id;
    path.dataset.from = read.dataset.rf;
    svg.append(path);
  }
}
function pick(graph, event, on) {
  const id = event.dataset.id;
  event.classList.toggle("pick", on);
  for (const path of graph.querySelectorAll("path.rf"))
    if (path.dataset.to === id || path.dataset.from === id) {
      path.classList.toggle("pick", on);
      byId(graph, path.dataset.to === id ? path.dataset.from : path.dataset.to).classList.toggle("pick", on);
    }
  const line = document.getElementById(event.dataset.line || "");
  if (line) {
    line.classList.toggle("pick", on);
    const pane = line.parentElement;
    if (on) pane.scrollTop = line.offsetTop - pane.offsetTop - pane.clientHeight / 2;
  }
}
for (const graph of graphs)
  for (const event of graph.querySelectorAll(".event[data-id]")) {
    event.addEventListener("mouseenter", () => pick(graph, event, true));
    event.addEventListener("mouseleave", () => pick(graph, event, false));
  }
addEventListener("resize", () => graphs.forEach(draw));
graphs.forEach(draw);
