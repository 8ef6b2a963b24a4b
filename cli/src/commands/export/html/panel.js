// Paths, sequences and loops, in words.

const PATHS = 12;

function showPanel() {
  const { paths, sequences, loops, work } = state.data;
  const shown = paths.slice(0, PATHS).map((path, place) =>
    entry([place], `${percent(workOf(path), work)}`, times([path.count, path.most]), path.route));
  const left = paths.length - shown.length;
  if (left > 0) shown.push(make("p", "hint", `${left} colder`));
  const long = sequences.map((s) =>
    entry(s.paths, times([s.count, s.most]), `${share([s.count, s.most], s.parent)} of the parent`, `${share([s.count, s.most], s.root)} of the root`));
  byId("panel").replaceChildren(
    part("Paths", shown, "No path was taken to its end."),
    part("Sequences", long, "No path followed another often enough."),
    part("Loops", loops.slice(0, 6).map(loopEntry), "No loop went around."));
  const first = byId("panel").querySelector("button");
  if (first) first.tabIndex = 0;
}

function part(title, entries, otherwise) {
  return make("div", "part", make("h3", "", title), ...(entries.length ? entries : [make("p", "hint", otherwise)]));
}

/** A button that chooses a sequence of paths. */
function entry(paths, ...words) {
  const letters = folded(paths).split(" → ").flatMap((word, i) => {
    const place = state.data.paths.findIndex((path) => path.letter === word.split(" ")[0]);
    const letter = colored(make("span", "letter", word), place);
    return i ? [make("span", "arrow", "→"), letter] : [letter];
  });
  const button = make("button", "entry", make("span", "letters", ...letters), ...words.map((word) => make("span", "", word)));
  button.type = "button";
  button.tabIndex = -1;
  button.dataset.paths = paths.join(" ");
  button.addEventListener("click", () => {
    choose(paths);
    zoomTo(nodeOf(paths));
  });
  return button;
}

function loopEntry(loop) {
  const { work, lost } = state.data;
  const entered = [Math.max(0, loop.entered - lost), loop.entered + lost];
  const rounds = loop.entered ? mean([loop.around, loop.around + lost], entered, 0) : "?";
  const place = loop.line ? `line ${loop.line}` : `block ${loop.header}`;
  const head = make("p", "", make("b", "", `At ${place}`), ` ${percent(loop.work, work)} of the work, goes around ${rounds} times`);
  const ways = loop.cycles.slice(0, 4).map((cycle) => {
    const at = state.data.paths.findIndex((path) => path.id === cycle.id);
    return entry([at], times([cycle.count, cycle.most]), `${mean(cycle.runs.paths, cycle.runs.number, 1)} times on end`, followers(cycle));
  });
  return make("div", "loop", head, ...ways, ...loop.advice.map((advice) => make("p", "advice", advice)));
}

function followers(cycle) {
  const words = cycle.next.slice(0, 3).map((next) => {
    const path = state.data.paths.find((one) => one.id === next.id);
    return `${path.letter} ${share([next.count, next.most], cycle.followed)}`;
  });
  return words.length ? `then ${words.join(", ")}` : "";
}

/** The forest's node of a sequence, as far as it was kept. */
function nodeOf(paths) {
  let found = -1;
  for (const [level, path] of paths.entries()) {
    const next = forest.findIndex((node) => node.level === level && node.path === path && (level === 0 || node.parent === found));
    if (next < 0) break;
    found = next;
  }
  return found;
}
