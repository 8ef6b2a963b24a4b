"use strict";

// The weakest first. Letters and names stand beside colours, which not all people tell apart.
const VARIANTS = [
  { key: "empty", letter: "0", name: "empty", says: "nothing to compute" },
  { key: "live", letter: "L", name: "live", says: "from live values" },
  { key: "live_e", letter: "E", name: "live-e", says: "from live values and arguments, and through phis of one value" },
  { key: "alias", letter: "A", name: "alias", says: "from live values that replaced others, too" },
  { key: "avail", letter: "V", name: "avail", says: "from values kept for it, too" },
];
const NONE = { key: "none", letter: "×", name: "not possible", says: "refused" };

const index = JSON.parse(document.getElementById("index").textContent);
const byId = (id) => document.getElementById(id);
const panes = { base: byId("base"), opt: byId("opt") };
const list = byId("functions");

// What is shown. `rows` and `mappings` are by the numbers of points.
const state = { number: -1, detail: null, direction: "base_to_opt", selected: null, shown: null };
let rows = { base: new Map(), opt: new Map() };
let mappings = new Map();
let order = [];
let lit = [];

const source = () => (state.direction === "base_to_opt" ? "base" : "opt");
const target = () => (state.direction === "base_to_opt" ? "opt" : "base");
const variantOf = (mapping) => VARIANTS.find((v) => v.key === mapping?.variant) ?? NONE;
const percent = (part, total) => (total ? (Math.floor((part * 1000) / total) / 10).toFixed(1) + " %" : "–");

/** An element. All text goes in as text. */
function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

function counted(count, what) {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** What each variant adds to those before it. */
function added(points) {
  return VARIANTS.map((v, i) => points[v.key] - (i ? points[VARIANTS[i - 1].key] : 0));
}

// --- the list of functions ---

function makeList() {
  index.functions.forEach((entry, number) => {
    const button = make("button", "", make("span", "name", entry.readable), make("span", "percent"), make("span", "shares"));
    button.type = "button";
    button.tabIndex = -1;
    button.title = entry.name;
    button.dataset.number = number;
    list.append(make("li", "", button));
  });
  const refused = Object.entries(index.refused_functions);
  if (refused.length) byId("refused").textContent = "Refused functions: " + refused.map(([why, n]) => `${why} ${n}`).join(", ");
}

function fillShares() {
  for (const button of list.querySelectorAll("button")) {
    const points = index.functions[button.dataset.number].points[state.direction];
    const shares = added(points).map((count, i) => {
      const part = make("i", VARIANTS[i].key);
      part.style.width = `${points.total ? (100 * count) / points.total : 0}%`;
      return part;
    });
    button.querySelector(".shares").replaceChildren(...shares);
    button.querySelector(".percent").textContent = percent(points.avail, points.total);
  }
}

const listed = () => [...list.querySelectorAll("li:not([hidden]) button")];

function filter() {
  const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const item of list.children) {
    const { name, readable } = index.functions[item.firstChild.dataset.number];
    const text = `${readable} ${name}`.toLowerCase();
    item.hidden = !words.every((word) => text.includes(word));
  }
  const all = index.functions.length;
  const found = listed();
  byId("found").textContent = words.length ? `${found.length} of ${counted(all, "function")}` : counted(all, "function");
  setStop(found);
}

/** One function of the list is a stop of the tabulator key. */
function setStop(buttons) {
  const current = buttons.find((b) => Number(b.dataset.number) === state.number) ?? buttons[0];
  for (const button of list.querySelectorAll("button[tabindex='0']")) button.tabIndex = -1;
  if (current) current.tabIndex = 0;
}

// --- a function ---

function open(number) {
  if (number === state.number) return;
  const element = byId(`f${number}`);
  Object.assign(state, { number, selected: null, detail: element && JSON.parse(element.textContent) });
  for (const button of list.querySelectorAll("button[aria-current]")) button.removeAttribute("aria-current");
  const button = list.children[number].firstChild;
  button.setAttribute("aria-current", "true");
  button.scrollIntoView({ block: "nearest" });
  setStop(listed());
  byId("name").textContent = index.functions[number].readable;
  showCode();
}

/** Both versions, and marks in the one that is left. */
function showCode() {
  const { number, detail, direction } = state;
  mappings = new Map((detail?.[direction] ?? []).map((mapping) => [mapping.point, mapping]));
  order = [];
  lit = [];
  for (const version of ["base", "opt"]) {
    rows[version] = new Map();
    const count = counted(index.functions[number].instructions[version], "instruction");
    const role = version === source() ? "from here" : "to here";
    panes[version].querySelector("h3").replaceChildren(`${version} `, make("span", "", `${count}, ${role}`));
    const code = panes[version].querySelector(".code");
    const blocks = (detail?.[version] ?? []).map((block) => makeBlock(block, version));
    code.replaceChildren(...blocks);
    code.scrollTo(0, 0);
  }
  const first = order.length ? markOf(order[0]) : null;
  if (first) first.tabIndex = 0;
  showLegend();
  show(null);
}

function makeBlock({ block, instructions }, version) {
  const element = make("div", "block", make("div", "label", block + ":"));
  element.style.setProperty("--rows", instructions.length);
  for (const { text, point } of instructions) element.append(makeRow(text, point, version));
  return element;
}

function makeRow(text, point, version) {
  const number = make("span", "number", point === null ? "" : String(point));
  const row = make("div", "row", number);
  const isSource = version === source();
  if (isSource) row.append(make("span", "slot"));
  row.append(make("code", "", text.trim()));
  if (point === null) return row;
  rows[version].set(point, row);
  if (isSource) {
    row.classList.add("point");
    row.dataset.point = point;
    row.querySelector(".slot").append(makeMark(point));
    order.push(point);
  }
  return row;
}

function makeMark(point) {
  const variant = variantOf(mappings.get(point));
  const mark = make("button", `mark ${variant.key}`, variant.letter);
  mark.type = "button";
  mark.tabIndex = -1;
  mark.setAttribute("aria-label", `point ${point}, ${variant.name}`);
  return mark;
}

const markOf = (point) => rows[source()].get(point).querySelector(".mark");

function showLegend() {
  const points = index.functions[state.number].points[state.direction];
  const counts = added(points);
  const items = VARIANTS.map((variant, i) => legendItem(variant, counts[i], points.total));
  items.push(legendItem(NONE, points.total - points.avail, points.total));
  // Points that are refused for themselves are none that could be mapped.
  const refused = [...mappings.values()].filter((m) => variantOf(m) === NONE).length - (points.total - points.avail);
  const more = refused > 0 ? `; ${refused} more refused` : "";
  byId("legend").replaceChildren(...items, make("li", "percent", `${points.proved} of ${counted(points.total, "point")} proved${more}`));
}

function legendItem(variant, count, total) {
  const item = make("li", "", make("span", `mark ${variant.key}`, variant.letter), variant.name, make("b", "", String(count)), make("span", "percent", percent(count, total)));
  item.title = variant.says;
  return item;
}

// --- a point ---

/** Lights the point and where it lands, and tells about it in the panel. */
function show(point) {
  for (const row of lit) row.classList.remove("from", "to");
  lit = [];
  state.shown = point;
  if (point === null) {
    byId("panel").replaceChildren(hint());
    return;
  }
  const mapping = mappings.get(point);
  light(rows[source()].get(point), "from");
  light(landingRow(mapping), "to");
  byId("panel").replaceChildren(...describe(point, mapping));
}

const landingRow = (mapping) => rows[target()].get(mapping?.landing ?? null);

function light(row, as) {
  if (!row) return;
  row.classList.add(as);
  lit.push(row);
}

/** Chooses a point for good: it stays when the pointer leaves, and the address names it. */
function select(point) {
  if (state.selected !== null) markOf(state.selected).tabIndex = -1;
  else if (order.length) markOf(order[0]).tabIndex = -1;
  state.selected = point;
  markOf(point).tabIndex = 0;
  show(point);
  writeAddress();
}

function reveal(row, block) {
  if (row) row.scrollIntoView({ block, inline: "nearest" });
}

function revealBoth(point, block) {
  reveal(rows[source()].get(point), block);
  reveal(landingRow(mappings.get(point)), block);
}

function describe(point, mapping) {
  const variant = variantOf(mapping);
  const lands = mapping?.landing ?? null;
  const head = make("h3", "", make("span", `mark ${variant.key}`, variant.letter), `Point ${point} of ${source()}`);
  if (lands !== null) head.append(` → before point ${lands} of ${target()}`);
  head.append(make("span", "hint", variant === NONE ? "" : `${variant.name}: ${variant.says}`));
  const parts = make("div", "parts");
  if (variant === NONE) {
    parts.append(part("Not possible", mapping?.refused ?? "no mapping"));
  } else {
    parts.append(codePart("Compensation", mapping.compensation, "nothing to compute"), codePart("Kept", mapping.keep, "nothing to keep"));
  }
  const landing = landingRow(mapping);
  if (landing) parts.append(codePart("Lands before", [landing.querySelector("code").textContent], ""));
  return [head, parts];
}

function part(title, ...content) {
  return make("div", "", make("h4", "", title), ...content);
}

function codePart(title, lines, otherwise) {
  const heading = lines.length > 1 ? `${title} (${lines.length})` : title;
  return part(heading, lines.length ? make("pre", "", lines.join("\n")) : make("span", "hint", otherwise));
}

function hint() {
  const key = (name) => make("kbd", "", name);
  if (!state.detail) return make("p", "hint", "There is no code to show.");
  return make("p", "hint", "Point at a mark, or go there with Tab and ", key("↑"), " ", key("↓"), " (", key("←"), " ", key("→"),
    " by blocks); click or ", key("Enter"), " shows where it lands, ", key("d"), " turns the direction, ", key("/"), " searches functions.");
}

// --- the address: #f=NAME&d=DIRECTION&p=POINT ---

function writeAddress() {
  const parts = new URLSearchParams({ f: index.functions[state.number].name, d: state.direction });
  if (state.selected !== null) parts.set("p", state.selected);
  history.replaceState(null, "", "#" + parts);
}

function readAddress() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const number = index.functions.findIndex((entry) => entry.name === parts.get("f"));
  const direction = parts.get("d") === "opt_to_base" ? "opt_to_base" : "base_to_opt";
  state.number = -1;
  setDirection(direction, false);
  open(Math.max(number, 0));
  const point = Number(parts.get("p") ?? NaN);
  if (number >= 0 && rows[source()].has(point)) {
    select(point);
    revealBoth(point, "center");
  }
}

// --- what people do ---

function setDirection(direction, redraw) {
  state.direction = direction;
  document.querySelector(`#direction input[value=${direction}]`).checked = true;
  fillShares();
  if (!redraw) return;
  // From where the chosen point lands, the way back is looked at.
  const landing = mappings.get(state.selected)?.landing ?? null;
  state.selected = null;
  showCode();
  if (rows[source()].has(landing)) {
    select(landing);
    revealBoth(landing, "center");
  }
  writeAddress();
}

const pointOf = (element) => {
  const row = element.closest?.(".row.point");
  return row ? Number(row.dataset.point) : null;
};

function go(point) {
  markOf(point).focus({ preventScroll: true });
  revealBoth(point, "nearest");
}

/** The first point of a block that is so many blocks away and has one. */
function blockAway(point, step) {
  let block = rows[source()].get(point).parentElement;
  const next = () => (step > 0 ? block.nextElementSibling : block.previousElementSibling);
  while ((block = next())) {
    const row = block.querySelector(".row.point");
    if (row) return Number(row.dataset.point);
  }
  return point;
}

function moveTo(key, point) {
  const at = order.indexOf(point);
  switch (key) {
    case "ArrowDown": return order[Math.min(at + 1, order.length - 1)];
    case "ArrowUp": return order[Math.max(at - 1, 0)];
    case "ArrowRight": return blockAway(point, 1);
    case "ArrowLeft": return blockAway(point, -1);
    case "Home": return order[0];
    case "End": return order[order.length - 1];
    default: return null;
  }
}

function listen() {
  const code = byId("panes");
  // Code that scrolls under a pointer at rest is not pointed at.
  let at = "";
  code.addEventListener("pointermove", (event) => {
    const place = `${event.screenX} ${event.screenY}`;
    if (place === at) return;
    at = place;
    const point = pointOf(event.target) ?? state.selected;
    if (point !== state.shown) show(point);
  });
  code.addEventListener("pointerleave", () => show(state.selected));
  code.addEventListener("focusin", (event) => {
    const point = pointOf(event.target);
    if (point !== null) select(point);
  });
  code.addEventListener("click", (event) => {
    const point = pointOf(event.target);
    if (point === null) return;
    markOf(point).focus({ preventScroll: true });
    select(point);
    reveal(landingRow(mappings.get(point)), "center");
  });
  code.addEventListener("keydown", (event) => {
    const point = pointOf(event.target);
    const next = point === null ? null : moveTo(event.key, point);
    if (next === null) return;
    event.preventDefault();
    go(next);
  });

  list.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    open(Number(button.dataset.number));
    writeAddress();
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const buttons = listed();
    buttons[buttons.indexOf(event.target.closest("button")) + step]?.focus();
  });

  const search = byId("search");
  search.addEventListener("input", filter);
  search.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "Enter") {
      event.preventDefault();
      const first = listed()[0];
      first?.focus();
      if (event.key === "Enter") first?.click();
    } else if (event.key === "Escape") {
      search.value = "";
      filter();
    }
  });
  byId("direction").addEventListener("change", (event) => setDirection(event.target.value, true));
  document.addEventListener("keydown", (event) => {
    if (event.target === search || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/") {
      event.preventDefault();
      search.focus();
      search.select();
    } else if (event.key === "d") {
      setDirection(state.direction === "base_to_opt" ? "opt_to_base" : "base_to_opt", true);
      if (order.length) go(state.selected ?? order[0]);
    }
  });
  window.addEventListener("hashchange", readAddress);
}

byId("source").textContent = index.source;
byId("pipeline").textContent = index.pipeline;
makeList();
filter();
if (index.functions.length) {
  listen();
  readAddress();
} else {
  fillShares();
  byId("direction").disabled = true;
}
