// Calling contexts as an icicle: each as wide as its activations and those below it, or as the time of these, its calls
// below it.

const LEVEL = 22;
// In pixels; what is narrower is not drawn.
const NARROW = 2;
// Functions that are named of a long chain of calls
const NAMED = 12;

const index = JSON.parse(byId("index").textContent);
const icicle = byId("icicle");
const grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, ",");
const percent = (part, whole) => (whole ? ((100 * part) / whole).toFixed(1) : "0.0") + " %";
const hueOf = (place) => (place * 137 + 200) % 360;

// `x` and `width` are from 0 to 1 of all that is drawn; `filled` is the part of it that calls have.
const contexts = index.contexts.map(([parent, called, least, most, within, time, timeWithin]) => ({
  parent, called, least, most, within, time, timeWithin, level: 0, children: [], x: 0, width: 0, filled: 0,
}));
// Places of contexts, or -1; and which functions are searched for.
const state = { zoom: -1, lit: new Set(), byTime: index.by_time };

/** What a context and those below it have of what they are as wide as, and all together. */
const weightOf = (one) => (state.byTime ? one.timeWithin : one.within);
const whole = () => (state.byTime ? index.times.total : index.activations);

/** Nanoseconds as people read them. */
function duration(nanoseconds) {
  const [unit, name] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]].find(([unit]) => nanoseconds >= unit) ?? [1, "ns"];
  const number = nanoseconds / unit;
  return `${unit === 1 ? number : number.toFixed(number < 10 ? 3 : number < 100 ? 2 : 1)} ${name}`;
}

function layOut() {
  const all = contexts.filter((one) => one.parent < 0).reduce((sum, one) => sum + weightOf(one), 0);
  let right = 0;
  for (const one of contexts) Object.assign(one, { children: [], filled: 0 });
  contexts.forEach((one, at) => {
    one.width = all ? weightOf(one) / all : 0;
    if (one.parent < 0) {
      one.x = right;
      right += one.width;
      return;
    }
    const parent = contexts[one.parent];
    one.level = parent.level + 1;
    one.x = parent.x + parent.filled;
    parent.filled += one.width;
    parent.children.push(at);
  });
}

/** Draws all that is in sight. What has the focus keeps it. */
function show() {
  const focused = document.activeElement.closest("#icicle .node")?.dataset.node;
  const zoom = state.zoom >= 0 ? contexts[state.zoom] : { x: 0, width: 1 };
  const scale = icicle.clientWidth / (zoom.width || 1);
  const above = new Set(wayTo(state.zoom));
  const boxes = [];
  let levels = 0;
  contexts.forEach((one, at) => {
    const left = Math.max(0, (one.x - zoom.x) * scale);
    const right = Math.min(icicle.clientWidth, (one.x + one.width - zoom.x) * scale);
    if (right - left < NARROW) return;
    boxes.push(box(one, at, left, right - left, at !== state.zoom && above.has(at)));
    levels = Math.max(levels, one.level + 1);
  });
  icicle.style.height = `${levels * LEVEL + 2}px`;
  icicle.replaceChildren(...boxes);
  if (boxes.length) boxes[0].tabIndex = 0;
  if (focused) focusNode(focused);
  byId("zoomed").textContent = state.zoom >= 0 ? `below ${nameOf(state.zoom)} – Escape goes up` : "";
}

function box(one, at, left, width, isAbove) {
  const element = make("div", "node", width > 14 ? nameOf(at) : "");
  element.style.cssText = `left:${left}px;width:${width}px;top:${one.level * LEVEL}px`;
  element.style.setProperty("--hue", hueOf(one.called));
  element.dataset.node = at;
  element.tabIndex = -1;
  element.setAttribute("role", "treeitem");
  element.setAttribute("aria-level", one.level + 1);
  element.setAttribute("aria-label", toldOf(at));
  element.title = toldOf(at);
  element.classList.toggle("above", isAbove);
  element.classList.toggle("lit", state.lit.has(one.called));
  return element;
}

const nameOf = (at) => index.functions[contexts[at].called].name;

/** A context and those above it. */
function wayTo(at) {
  const way = [];
  for (; at >= 0; at = contexts[at].parent) way.push(at);
  return way;
}

function toldOf(at) {
  const { called, least, most, within, time, timeWithin } = contexts[at];
  const names = [];
  for (let above = at; above >= 0 && names.length < NAMED; above = contexts[above].parent) names.unshift(nameOf(above));
  const far = contexts[at].level >= NAMED ? "… → " : "";
  const { place } = index.functions[called];
  const times = grouped(least) + (most > least ? ` (≤ ${grouped(most)})` : "") + (most === 1 ? " activation" : " activations");
  return (
    `${far}${names.join(" → ")}${place ? ` (${place})` : ""}: ${times}; ` +
    (index.times ? `${duration(time)}, ${duration(timeWithin)} with what they call; ` : "") +
    `${grouped(within)} with those below, ${percent(weightOf(contexts[at]), whole())} of all${index.times ? (state.byTime ? " time" : " activations") : ""}`
  );
}

/** Lights the functions with a text in their names, and tells how much is in and below them. */
function search(text) {
  const places = text ? index.functions.flatMap(({ name }, place) => (name.toLowerCase().includes(text.toLowerCase()) ? [place] : [])) : [];
  state.lit = new Set(places);
  const isWithin = [];
  let sum = 0;
  contexts.forEach((one, at) => {
    const isLit = state.lit.has(one.called);
    const isBelow = one.parent >= 0 && isWithin[one.parent];
    if (isLit && !isBelow) sum += weightOf(one);
    isWithin[at] = isLit || isBelow;
  });
  byId("found").textContent = text ? `${counted(places.length, "function")}; ${percent(sum, whole())} of all in and below` : "";
  show();
}

/** The box of a context; null if it is too narrow or not in sight. */
const boxOf = (at) => icicle.querySelector(`[data-node="${at}"]`);

function focusNode(at) {
  const element = boxOf(at);
  if (!element) return;
  for (const other of icicle.querySelectorAll("[tabindex='0']")) other.tabIndex = -1;
  element.tabIndex = 0;
  element.focus();
}

/** Zooms to a context, or to all where it is -1, and goes to a context that is then in sight. */
function zoomTo(at, focus) {
  state.zoom = at;
  show();
  focusNode(focus);
}

/** The widest of some contexts, the first of several; undefined if there is none. */
const widest = (places) => places.reduce((best, at) => (best === undefined || contexts[at].width > contexts[best].width ? at : best), undefined);

/** Goes to the widest of the contexts that are lit, and zooms to it where it has no box. */
function goToLit() {
  const at = widest([...contexts.keys()].filter((place) => state.lit.has(contexts[place].called)));
  if (at === undefined) return;
  if (boxOf(at)) focusNode(at);
  else zoomTo(at, at);
}

/** Where an arrow key leads from a context; undefined for other keys. */
function target(key, at) {
  const row = () => [...icicle.querySelectorAll(".node")].map((one) => Number(one.dataset.node)).filter((one) => contexts[one].level === contexts[at].level);
  const beside = (by) => row()[row().indexOf(at) + by];
  const moves = {
    ArrowUp: () => contexts[at].parent,
    ArrowDown: () => widest(contexts[at].children.filter(boxOf)),
    ArrowLeft: () => beside(-1),
    ArrowRight: () => beside(1),
  };
  return moves[key];
}

function listen() {
  const nodeAt = (event) => Number(event.target.closest?.(".node")?.dataset.node ?? -1);
  icicle.addEventListener("click", (event) => {
    const at = nodeAt(event);
    if (at >= 0) zoomTo(at === state.zoom ? contexts[at].parent : at, at);
  });
  for (const kind of ["focusin", "mouseover"]) {
    icicle.addEventListener(kind, (event) => {
      if (nodeAt(event) >= 0) byId("told").textContent = toldOf(nodeAt(event));
    });
  }
  icicle.addEventListener("keydown", (event) => {
    const at = nodeAt(event);
    if (at < 0) return;
    const move = target(event.key, at);
    if (move) focusNode(move() ?? -1);
    else if (event.key === "Enter" || event.key === " ") zoomTo(at, at);
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target === byId("search");
    if (event.key === "/" && !isTyping) {
      byId("search").focus();
      event.preventDefault();
    } else if (event.key === "Escape" && !isTyping && state.zoom >= 0) {
      zoomTo(contexts[state.zoom].parent, state.zoom);
    }
  });
  byId("by").addEventListener("change", () => {
    state.byTime = byId("by").value === "time";
    layOut();
    describe();
    search(byId("search").value);
  });
  byId("search").addEventListener("input", () => search(byId("search").value));
  byId("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter") goToLit();
  });
  // Its height changes by what is drawn.
  let width = icicle.clientWidth;
  const resized = () => {
    if (icicle.clientWidth !== width) show();
    width = icicle.clientWidth;
  };
  new ResizeObserver(resized).observe(icicle);
}

const { activations, elsewhere, left_out } = index;
byId("binary").textContent = index.binary;

/** Tells what was counted, and what is drawn. */
function describe() {
  const measured = index.times ? `, ${duration(index.times.total)}` : "";
  byId("counted").textContent =
    `${grouped(activations)} activations${elsewhere ? `, ${grouped(elsewhere)} of them without context` : ""}${measured}; ` +
    `as wide as the ${state.byTime ? "time" : "activations"} of a function and all that it has called` +
    `${left_out ? `; ${grouped(left_out)} ${index.by_time ? "shorter" : "rarer"} contexts left out` : ""}`;
}

byId("measure").hidden = !index.times;
byId("by").value = state.byTime ? "time" : "activations";
describe();
byId("told").textContent = contexts.length
  ? "Arrow keys move among calls, Enter or a click zooms, Escape goes up; / searches functions, and Enter there goes to the widest."
  : "No function ran.";
layOut();
show();
listen();
