// What OSR at a point takes.

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
  for (const way of mapping?.ways ?? []) light(landingRow(way), "to");
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
  const ways = mapping?.ways ?? [];
  const lands = ways.length === 1 ? ways[0].landing : null;
  const head = make("h3", "", make("span", `mark ${variant.key}`, variant.letter), `Point ${point} of ${source()}`);
  if (lands !== null) head.append(` → before point ${lands} of ${target()}`);
  head.append(make("span", "hint", variant === NONE ? "" : `${variant.name}: ${variant.says}`));
  if (variant === NONE) {
    return [head, make("div", "parts", part("Not possible", mapping?.refused ?? "no mapping"))];
  }
  return [head, ...ways.map(describeWay)];
}

/** What OSR takes where control came in one way. */
function describeWay(way) {
  const parts = make("div", "parts");
  if (way.came_from) parts.append(codePart("Where control came from", way.came_from, ""));
  const passed = way.compensation.filter(isPassed);
  const computed = way.compensation.filter((line) => !isPassed(line));
  parts.append(codePart("Compensation", computed, "nothing to compute"));
  if (passed.length) parts.append(codePart("Passed", passed, ""));
  parts.append(codePart("Kept", way.keep, "nothing to keep"));
  const landing = landingRow(way);
  if (landing) parts.append(codePart("Lands before", [landing.querySelector("code").textContent], ""));
  return parts;
}

/** `x := y`: no instruction, only another name. */
const isPassed = (line) => line.includes(" := ") && !line.includes(" = ");

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
