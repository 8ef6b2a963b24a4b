// The beginning, and what goes on between the parts.

/** Shows a function. */
function open(number) {
  state.number = number;
  state.data = JSON.parse(byId(`f${number}`).textContent);
  state.chosen = [];
  state.zoom = -1;
  state.node = -1;
  layOut();
  const { data } = state;
  byId("name").textContent = data.readable;
  const interrupted = data.interrupted ? `, ${grouped(data.interrupted)} interrupted` : "";
  const short = [[data.truncated, "truncated"], [data.restarts, "restarts"], [data.lost, "lost"]].filter(([number]) => number);
  const full = short.map(([number, what]) => `; ${grouped(number)} ${what}`).join("");
  const place = data.file ? `${shortName(data.file)}:${data.line}, ` : "";
  byId("about").textContent =
    `${place}${percent(index.functions[number].share, 1)} of the work; entered ${grouped(data.entries)}×${interrupted}; ` +
    `${counted(data.paths.length, "path")}, k = ${data.k}${full}`;
  byId("told").textContent = "Arrow keys move in the forest, Enter or a click zooms, Escape goes up; / searches functions.";
  showSource();
  reveal([0], "center");
  showPanel();
  showForest();
  setStop();
  writeAddress();
}

/** Chooses a sequence of paths: their lines are lit. */
function choose(paths) {
  state.chosen = paths;
  showSource();
  if (paths.length) reveal(paths, "nearest");
  for (const button of byId("panel").querySelectorAll(".entry")) {
    button.classList.toggle("chosen", button.dataset.paths === paths.join(" "));
  }
}

function listen() {
  document.addEventListener("keydown", (event) => {
    const typing = event.target === byId("search");
    if (event.key === "/" && !typing) {
      byId("search").focus();
      event.preventDefault();
    } else if (event.key === "Escape" && !typing) {
      if (state.zoom >= 0) zoomTo(forest[state.zoom].parent);
      else choose([]);
    }
  });
  byId("columns").addEventListener("keydown", (event) => {
    const buttons = [...byId("columns").children];
    if (rove(buttons, document.activeElement, event.key, ["ArrowLeft", "ArrowRight"])) event.preventDefault();
  });
  byId("panel").addEventListener("keydown", (event) => {
    const buttons = [...byId("panel").querySelectorAll("button")];
    if (rove(buttons, document.activeElement, event.key, ["ArrowUp", "ArrowDown"])) event.preventDefault();
  });
  listenForest();
  new ResizeObserver(() => showForest()).observe(byId("forest"));
  addEventListener("hashchange", readAddress);
}

byId("binary").textContent = index.binary;
const { paths, activations, interrupted, truncated, lost } = index.events;
byId("events").textContent =
  `${grouped(paths)} paths by ${grouped(activations)} activations; interrupted activations: ${grouped(interrupted)}; ` +
  `paths truncated: ${grouped(truncated)}, lost: ${grouped(lost)}; k = ${index.k}`;
makeList();
if (index.functions.length) {
  readAddress();
  listen();
}
