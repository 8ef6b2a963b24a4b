// A parser by recursive descent, an interpreter of trees, and a printer, on expressions that are
// drawn at random, so that each is nested in another way.
const n = Number(scriptArgs[1]);
let state = 20161;
function draw(limit) { state = (state * 16807) % 2147483647; return state % limit; }
function make(depth) {
  const kind = depth === 0 ? 0 : draw(8);
  switch (kind) {
    case 0: return String(draw(100));
    case 1: return "x";
    case 2: return "(" + make(depth - 1) + "+" + make(depth - 1) + ")";
    case 3: return "(" + make(depth - 1) + "*" + make(depth - 1) + ")";
    case 4: return "-" + make(depth - 1);
    case 5: return "[" + make(depth - 1) + "," + make(depth - 1) + "]";
    case 6: return "{" + make(depth - 1) + "}";
    default: return "(" + make(depth - 1) + "-" + make(depth - 1) + ")";
  }
}
class Parser {
  constructor(text) { this.text = text; this.at = 0; }
  next() { return this.text[this.at++]; }
  look() { return this.text[this.at]; }
  expression() {
    switch (this.look()) {
      case "(": { this.next(); const a = this.expression(); const o = this.next(); const b = this.expression(); this.next(); return { kind: o, a, b }; }
      case "-": { this.next(); return { kind: "neg", a: this.expression() }; }
      case "[": { this.next(); const a = this.expression(); this.next(); const b = this.expression(); this.next(); return { kind: "pair", a, b }; }
      case "{": { this.next(); const a = this.expression(); this.next(); return { kind: "map", a }; }
      case "x": this.next(); return { kind: "x" };
      default: { let v = 0; while (this.look() >= "0" && this.look() <= "9") v = v * 10 + Number(this.next()); return { kind: "number", v }; }
    }
  }
}
const rules = {
  "+": (t, x) => (run(t.a, x) + run(t.b, x)) | 0,
  "-": (t, x) => (run(t.a, x) - run(t.b, x)) | 0,
  "*": (t, x) => Math.imul(run(t.a, x), run(t.b, x)),
  "neg": (t, x) => -run(t.a, x) | 0,
  "pair": (t, x) => [t.a, t.b].reduce((s, e) => (s * 3 + run(e, x)) | 0, 7),
  "map": (t, x) => [1, 2].map((i) => run(t.a, x + i)).sort((a, b) => a - b)[0],
  "x": (t, x) => x,
  "number": (t) => t.v,
};
function run(t, x) { return rules[t.kind](t, x); }
function show(t) { return t.b ? "(" + show(t.a) + t.kind + show(t.b) + ")" : t.a ? t.kind + "(" + show(t.a) + ")" : String(t.v ?? "x"); }
let sum = 0, length = 0;
for (let i = 0; i < n; i++) {
  const tree = new Parser(make(12)).expression();
  for (let x = 0; x < 3; x++) sum = (sum * 31 + run(tree, x)) | 0;
  length += show(JSON.parse(JSON.stringify(tree))).length;
}
print(n, sum, length);
