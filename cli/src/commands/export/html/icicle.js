// The path forest as an icicle: as wide as the work on the first path, below each path what followed it.

const LEVEL = 22;
// In pixels; what is narrower is not drawn.
const NARROW = 2;
let forest = [];

/** Gives each node its parent, its children and its place: from 0 to 1 of the function's work. */
function layOut() {
  const { nodes } = state.data.forest;
  const above = [];
  let right = 0;
  forest = nodes.map((node) => ({ ...node, parent: -1, children: [], x: 0, width: node.work / state.data.work, filled: 0 }));
  forest.forEach((node, at) => {
    above.length = node.level;
    if (node.level === 0) {
      node.x = right;
      right += node.width;
    } else {
      node.parent = above[node.level - 1];
      const parent = forest[node.parent];
      node.x = parent.x + parent.filled;
      parent.filled += node.width;
      parent.children.push(at);
    }
    above.push(at);
  });
}

/** The paths from the root down to a node. */
function pathsTo(at) {
  const paths = [];
  for (let node = at; node >= 0; node = forest[node].parent) paths.unshift(forest[node].path);
  return paths;
}

function showForest() {
  const icicle = byId("icicle");
  const zoom = state.zoom >= 0 ? forest[state.zoom] : { x: 0, width: 1 };
  const scale = icicle.clientWidth / (zoom.width || 1);
  const boxes = [];
  forest.forEach((node, at) => {
    const left = Math.max(0, (node.x - zoom.x) * scale);
    const right = Math.min(icicle.clientWidth, (node.x + node.width - zoom.x) * scale);
    if (right - left >= NARROW) boxes.push(box(node, at, left, right - left));
  });
  const levels = Math.max(0, ...forest.map((node) => node.level + 1));
  icicle.style.height = `${levels * LEVEL + 2}px`;
  icicle.replaceChildren(...boxes);
  const stop = boxes.find((one) => Number(one.dataset.node) === state.node) ?? boxes[0];
  if (stop) stop.tabIndex = 0;
  const rest = state.data.forest.left_out;
  const rare = rest ? `; ${grouped(rest)} rarer sequences left out` : "";
  byId("zoomed").textContent = state.zoom >= 0 ? `below ${folded(pathsTo(state.zoom))} – Escape goes up` : `as wide as the work${rare}`;
}

function box(node, at, left, width) {
  const path = state.data.paths[node.path];
  const text = width > 140 ? `${path.letter}  ${path.route}` : width > 14 ? path.letter : "";
  const element = colored(make("div", "node", text), node.path);
  element.style.cssText += `left:${left}px;width:${width}px;top:${node.level * LEVEL}px`;
  element.dataset.node = at;
  element.tabIndex = -1;
  element.setAttribute("role", "treeitem");
  element.setAttribute("aria-level", node.level + 1);
  element.setAttribute("aria-label", toldOf(at));
  element.title = toldOf(at);
  element.classList.toggle("above", state.zoom >= 0 && isAbove(at, state.zoom));
  return element;
}

function isAbove(at, below) {
  for (let node = forest[below].parent; node >= 0; node = forest[node].parent) if (node === at) return true;
  return false;
}

function toldOf(at) {
  const node = forest[at];
  const paths = pathsTo(at);
  let root = at;
  while (forest[root].parent >= 0) root = forest[root].parent;
  const count = [node.count, node.most];
  const told = `${folded(paths)}: ${times(count)}`;
  if (node.parent < 0) return `${told}, ${percent(node.work, state.data.work)} of the work; ${state.data.paths[node.path].route}`;
  const [parent, first] = [forest[node.parent], forest[root]].map((whole) => [whole.count, whole.most]);
  return `${told}, ${share(count, parent)} of the parent, ${share(count, first)} of the root; ${state.data.paths[node.path].route}`;
}

/** Lights a node's sequence in the source, and tells about it. */
function visit(at) {
  state.node = at;
  byId("told").textContent = toldOf(at);
  choose(pathsTo(at));
}

/** Zooms to a node, or to all where it is -1. What has the focus keeps it. */
function zoomTo(at) {
  const focused = document.activeElement.closest("#icicle .node")?.dataset.node;
  state.zoom = at;
  showForest();
  if (focused) focusNode(focused);
  writeAddress();
}

function focusNode(at) {
  const element = byId("icicle").querySelector(`[data-node="${at}"]`);
  if (!element) return;
  for (const other of byId("icicle").querySelectorAll("[tabindex='0']")) other.tabIndex = -1;
  element.tabIndex = 0;
  element.focus();
}

function listenForest() {
  const icicle = byId("icicle");
  const nodeAt = (event) => {
    const at = event.target.closest?.(".node")?.dataset.node;
    return at === undefined ? -1 : Number(at);
  };
  icicle.addEventListener("click", (event) => {
    const at = nodeAt(event);
    if (at < 0) return;
    zoomTo(at === state.zoom ? forest[at].parent : at);
    focusNode(at);
  });
  icicle.addEventListener("focusin", (event) => {
    if (nodeAt(event) >= 0) visit(nodeAt(event));
  });
  icicle.addEventListener("keydown", (event) => {
    const at = nodeAt(event);
    if (at < 0) return;
    const row = [...icicle.querySelectorAll(".node")].map((one) => Number(one.dataset.node)).filter((one) => forest[one].level === forest[at].level);
    const beside = (by) => row[row.indexOf(at) + by];
    const moves = {
      ArrowUp: forest[at].parent,
      ArrowDown: forest[at].children[0],
      ArrowLeft: beside(-1),
      ArrowRight: beside(1),
    };
    if (event.key in moves) {
      if (moves[event.key] >= 0) focusNode(moves[event.key]);
    } else if (event.key === "Enter" || event.key === " ") {
      zoomTo(at);
      focusNode(at);
    } else {
      return;
    }
    event.preventDefault();
  });
}
