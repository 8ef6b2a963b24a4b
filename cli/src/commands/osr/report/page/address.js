// The address names what is shown: #f=NAME&d=DIRECTION&p=POINT.

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
