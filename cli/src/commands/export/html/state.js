// What is shown, and what all parts use.

const index = JSON.parse(byId("index").textContent);
const list = byId("functions");

// What is shown. `chosen` has places of paths, a sequence of them; `zoom` and `node` are places in the forest.
const state = { number: -1, data: null, chosen: [], zoom: -1, node: -1 };

const grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, ",");
const percent = (part, whole) => (whole ? ((100 * part) / whole).toFixed(1) : "0.0") + " %";

// What is known within bounds only is an array of the least and the most that it may be.

/** A count, and the most that it may be where that is more. */
const times = ([least, most]) => grouped(least) + (most > least ? ` (≤ ${grouped(most)})` : "") + "×";

/** The share that a part has of a whole, as far as it is known: `≈` is nearly, `?` not known. */
function share([least, most], [all, allMost]) {
  const part = (count, whole) => (whole ? (100 * count) / whole : 0);
  return known([part(least, allMost), part(most, Math.max(all, most))], 0, 10, (n) => n.toFixed(1) + " %", (n) => n.toFixed(0) + " %");
}

/** A mean of whole numbers, none of them less than `floor`. */
function mean([least, most], [number, numberMost], floor) {
  const ends = [numberMost ? least / numberMost : 0, number ? most / number : most ? Infinity : 0];
  const look = (n) => (n < 100 ? n.toFixed(1) : grouped(Math.round(n)));
  return known(ends, floor, ends[0] < 100 ? 10 : 1, look, look);
}

/** What is known of a number that is no less than `floor`, as `plain` shows parts of it. */
function known([least, most], floor, parts, plain, rough) {
  if (plain(least) === plain(most)) return plain(least);
  if ((Number.isFinite(most) && most - least <= 0.01 * most) || rough(least) === rough(most)) return `≈ ${rough((least + most) / 2)}`;
  const below = Math.floor(least * parts) / parts;
  return below <= floor ? "?" : `≥ ${plain(below)}`;
}

const workOf = (path) => path.count * path.cost;
const shortName = (file) => file.split("/").pop();
// Colours next to each other differ much; letters stand beside them, which not all people tell apart.
const hueOf = (place) => (place * 137 + 200) % 360;

/** Gives an element the colour of a path. */
function colored(element, place) {
  element.style.setProperty("--hue", hueOf(place));
  return element;
}

const letterOf = (place) => state.data.paths[place].letter;

/** Paths with letters, runs folded: `A → B ×3`. */
function folded(paths) {
  const words = [];
  for (let i = 0; i < paths.length; ) {
    let times = 1;
    while (paths[i + times] === paths[i]) times++;
    words.push(letterOf(paths[i]) + (times > 1 ? ` ×${times}` : ""));
    i += times;
  }
  return words.join(" → ");
}

/** Moves among elements with the arrow keys; one of them is a stop of the tabulator key. */
function rove(elements, current, key, keys) {
  const at = elements.indexOf(current);
  const places = { [keys[0]]: at - 1, [keys[1]]: at + 1, Home: 0, End: elements.length - 1 };
  const next = key in places ? elements[places[key]] : undefined;
  if (!next) return false;
  for (const element of elements) element.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
  return true;
}
