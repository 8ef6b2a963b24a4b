// The paths as lines beside the source: down along its lines, and, of a cycle, up again to the loop's head.

const SVG = "http://www.w3.org/2000/svg";

function shape(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function drawing(drawn) {
  const { source } = state.data;
  const height = source.text.length * ROW;
  const picture = shape("svg", { id: "drawing", width: drawn.length * COLUMN + 6, height, "aria-hidden": "true" });
  drawn.forEach((place, column) => picture.append(drawnPath(place, 7 + column * COLUMN)));
  return picture;
}

function drawnPath(place, x) {
  const { source, paths } = state.data;
  const path = paths[place];
  const last = source.first + source.text.length - 1;
  const lines = path.lines.filter((line) => line >= source.first && line <= last);
  const group = colored(shape("g", { class: "path", "data-path": place }), place);
  group.classList.toggle("dimmed", state.chosen.length > 0 && !state.chosen.includes(place));
  if (!lines.length) return group;
  const y = (line) => (line - source.first) * ROW + ROW / 2;
  const [top, bottom] = [y(Math.min(...lines)), y(Math.max(...lines))];
  const back = path.back_to >= source.first && path.back_to <= last ? y(path.back_to) : null;
  if (back === null) {
    group.append(shape("path", { d: `M${x} ${top}V${bottom + 6}m-3 -4l3 4l3 -4` }));
  } else {
    const low = Math.max(bottom, back);
    group.append(shape("path", { d: `M${x} ${Math.min(top, back)}V${low}q0 7 4.5 7q4.5 0 4.5 -7V${back}m-3 4l3 -4l3 4` }));
  }
  for (const line of new Set(lines)) group.append(shape("circle", { cx: x, cy: y(line), r: 3 }));
  return group;
}
