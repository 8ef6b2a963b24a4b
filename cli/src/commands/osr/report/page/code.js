// The code of a function, both versions side by side.

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
  mappings = byPoint(detail?.[direction] ?? []);
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

/** For each point its mapping, with one for each way to it; the first one stands for all. */
function byPoint(all) {
  const found = new Map();
  for (const mapping of all) {
    const first = found.get(mapping.point);
    if (first) first.ways.push(mapping);
    else found.set(mapping.point, { ...mapping, ways: [mapping] });
  }
  return found;
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
