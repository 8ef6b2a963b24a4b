// The list of functions.

function makeList() {
  index.functions.forEach((entry, number) => {
    const bar = make("i", "");
    bar.style.width = `${100 * entry.share}%`;
    const name = make("span", "name", entry.readable);
    const button = make("button", "", name, make("span", "percent", percent(entry.share, 1)), make("span", "bar", bar));
    button.type = "button";
    button.tabIndex = -1;
    button.title = `${entry.name}  ${entry.file}`;
    button.dataset.number = number;
    button.addEventListener("click", () => open(number));
    list.append(make("li", "", button));
  });
  byId("search").addEventListener("input", filter);
  byId("search").addEventListener("keydown", (event) => {
    const [first] = listed();
    if (event.key === "Enter" && first) open(Number(first.dataset.number));
    if (event.key === "ArrowDown" && first) first.focus();
    if (event.key === "Escape") {
      event.target.value = "";
      filter();
    }
  });
  list.addEventListener("keydown", (event) => {
    if (rove(listed(), document.activeElement, event.key, ["ArrowUp", "ArrowDown"])) event.preventDefault();
  });
  filter();
}

const listed = () => [...list.querySelectorAll("li:not([hidden]) button")];

function filter() {
  const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const item of list.children) {
    const { name, readable, file } = index.functions[item.firstChild.dataset.number];
    const text = `${readable} ${name} ${file}`.toLowerCase();
    item.hidden = !words.every((word) => text.includes(word));
  }
  const all = counted(index.functions.length, "function");
  const more = index.left_out ? `; ${index.left_out} more ran` : "";
  byId("found").textContent = words.length ? `${listed().length} of ${all}` : all + more;
  setStop();
}

/** One function of the list is a stop of the tabulator key. */
function setStop() {
  const buttons = listed();
  for (const button of list.querySelectorAll("button")) {
    button.tabIndex = -1;
    button.toggleAttribute("aria-current", Number(button.dataset.number) === state.number);
  }
  const current = buttons.find((button) => Number(button.dataset.number) === state.number) ?? buttons[0];
  if (current) current.tabIndex = 0;
}
