// The source: counts, the drawing of the paths, the text.

const COLUMNS = 8;
const ROW = 20;
const COLUMN = 20;

/** The paths that have a column: the hottest, and those that are chosen. */
function drawnPaths() {
  const hottest = state.data.paths.slice(0, COLUMNS).map((_, place) => place);
  return [...new Set([...hottest, ...state.chosen])];
}

function showSource() {
  const { source, paths } = state.data;
  const drawn = drawnPaths();
  const most = Math.max(1, ...Object.values(source.counts));
  const over = new Set(state.chosen.flatMap((place) => paths[place].lines));
  const rows = source.text.map((text, at) => {
    const line = source.first + at;
    const count = source.counts[line];
    const heat = make("i", "");
    // A tenth of the length is a tenth as often, by powers of ten.
    heat.style.width = count ? `${100 * (0.1 + (0.9 * Math.log10(count + 1)) / Math.log10(most + 1))}%` : "0";
    const shown = make("span", "count", heat, count === undefined ? "" : grouped(count));
    const row = make("div", "line", shown, make("span", "gutter"), make("span", "number", String(line)), make("code", "", text));
    row.dataset.line = line;
    row.classList.toggle("cold", count === 0);
    row.classList.toggle("over", over.has(line));
    return row;
  });
  const code = byId("code");
  code.style.setProperty("--gutter", `${drawn.length * COLUMN + 6}px`);
  const note = source.found ? "" : "The source was not found; --source-dir says where to look.";
  code.replaceChildren(drawing(drawn), ...rows, make("p", "hint", note));
  showColumns(drawn);
}

/** The letters above the columns: buttons that choose a path. */
function showColumns(drawn) {
  const focused = document.activeElement?.dataset?.column;
  const buttons = drawn.map((place) => {
    const path = state.data.paths[place];
    const button = colored(make("button", "letter", path.letter), place);
    button.type = "button";
    button.title = `${path.route}\n${grouped(path.count)}×, ${percent(workOf(path), state.data.work)} of the function's work`;
    button.dataset.column = place;
    button.tabIndex = -1;
    button.setAttribute("aria-pressed", String(state.chosen.includes(place)));
    button.addEventListener("click", () => choose(isOnly(place) ? [] : [place]));
    return button;
  });
  const stop = buttons.find((button) => button.dataset.column === focused) ?? buttons[0];
  if (stop) stop.tabIndex = 0;
  byId("columns").replaceChildren(...buttons);
  if (focused !== undefined) stop?.focus();
}

const isOnly = (place) => state.chosen.length === 1 && state.chosen[0] === place;

/** Brings the first line of some paths into view. */
function reveal(places, block) {
  const lines = places.flatMap((place) => state.data.paths[place]?.lines ?? []);
  const row = byId("code").querySelector(`[data-line="${Math.min(...lines)}"]`);
  row?.scrollIntoView({ block });
}
