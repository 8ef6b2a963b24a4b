// What people do.

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
