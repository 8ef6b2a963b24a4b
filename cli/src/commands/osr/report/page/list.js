// The list of functions.

function makeList() {
  index.functions.forEach((entry, number) => {
    const button = make("button", "", make("span", "name", entry.readable), make("span", "percent"), make("span", "shares"));
    button.type = "button";
    button.tabIndex = -1;
    button.title = entry.name;
    button.dataset.number = number;
    list.append(make("li", "", button));
  });
  const refused = Object.entries(index.refused_functions);
  if (refused.length) byId("refused").textContent = "Refused functions: " + refused.map(([why, n]) => `${why} ${n}`).join(", ");
}

function fillShares() {
  for (const button of list.querySelectorAll("button")) {
    const points = index.functions[button.dataset.number].points[state.direction];
    const shares = added(points).map((count, i) => {
      const part = make("i", VARIANTS[i].key);
      part.style.width = `${points.total ? (100 * count) / points.total : 0}%`;
      return part;
    });
    button.querySelector(".shares").replaceChildren(...shares);
    button.querySelector(".percent").textContent = percent(points.avail, points.total);
  }
}

const listed = () => [...list.querySelectorAll("li:not([hidden]) button")];

function filter() {
  const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const item of list.children) {
    const { name, readable } = index.functions[item.firstChild.dataset.number];
    const text = `${readable} ${name}`.toLowerCase();
    item.hidden = !words.every((word) => text.includes(word));
  }
  const all = index.functions.length;
  const found = listed();
  byId("found").textContent = words.length ? `${found.length} of ${counted(all, "function")}` : counted(all, "function");
  setStop(found);
}

/** One function of the list is a stop of the tabulator key. */
function setStop(buttons) {
  const current = buttons.find((b) => Number(b.dataset.number) === state.number) ?? buttons[0];
  for (const button of list.querySelectorAll("button[tabindex='0']")) button.tabIndex = -1;
  if (current) current.tabIndex = 0;
}
