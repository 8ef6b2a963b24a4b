// What is shown, and what all parts use.

// The weakest first. Letters and names stand beside colours, which not all people tell apart.
const VARIANTS = [
  { key: "empty", letter: "0", name: "empty", says: "nothing to compute" },
  { key: "live", letter: "L", name: "live", says: "from live values" },
  { key: "live_e", letter: "E", name: "live-e", says: "from live values and arguments, and through phis of one value" },
  { key: "alias", letter: "A", name: "alias", says: "from live values that replaced others, too" },
  { key: "avail", letter: "V", name: "avail", says: "from values kept for it, too" },
];
const NONE = { key: "none", letter: "×", name: "not possible", says: "refused" };

const index = JSON.parse(document.getElementById("index").textContent);
const panes = { base: byId("base"), opt: byId("opt") };
const list = byId("functions");

// What is shown. `rows` and `mappings` are by the numbers of points.
const state = { number: -1, detail: null, direction: "base_to_opt", selected: null, shown: null };
let rows = { base: new Map(), opt: new Map() };
let mappings = new Map();
let order = [];
let lit = [];

const source = () => (state.direction === "base_to_opt" ? "base" : "opt");
const target = () => (state.direction === "base_to_opt" ? "opt" : "base");
const variantOf = (mapping) => VARIANTS.find((v) => v.key === mapping?.variant) ?? NONE;
const percent = (part, total) => (total ? (Math.floor((part * 1000) / total) / 10).toFixed(1) + " %" : "–");

/** What each variant adds to those before it. */
function added(points) {
  return VARIANTS.map((v, i) => points[v.key] - (i ? points[VARIANTS[i - 1].key] : 0));
}

