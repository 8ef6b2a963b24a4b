// The address names what is shown: #f=NAME&s=SEQUENCE, with the places of paths, of the node zoomed to.

function writeAddress() {
  const parts = new URLSearchParams({ f: index.functions[state.number].name });
  if (state.zoom >= 0) parts.set("s", pathsTo(state.zoom).join("."));
  history.replaceState(null, "", "#" + parts);
}

function readAddress() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const number = index.functions.findIndex((entry) => entry.name === parts.get("f"));
  const sequence = (parts.get("s") ?? "").split(".").filter(Boolean).map(Number);
  open(Math.max(number, 0));
  const at = number >= 0 && sequence.length ? nodeOf(sequence) : -1;
  if (at >= 0) {
    zoomTo(at);
    visit(at);
  }
}
