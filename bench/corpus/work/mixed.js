// A bit of all that an interpreter does: calls, objects, strings, closures, regular expressions.
const n = Number(scriptArgs[1]);

function fib(i) { return i < 2 ? i : fib(i - 1) + fib(i - 2); }

function sieve(limit) {
  const composite = new Uint8Array(limit + 1);
  let count = 0;
  for (let i = 2; i <= limit; i++) {
    if (composite[i]) continue;
    count++;
    for (let j = i * i; j <= limit; j += i) composite[j] = 1;
  }
  return count;
}

function words(limit) {
  const seen = new Map();
  let state = 7;
  for (let i = 0; i < limit; i++) {
    state = (state * 16807) % 2147483647;
    const word = "w" + (state % 500);
    seen.set(word, (seen.get(word) || 0) + 1);
  }
  const list = [...seen].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  return list[0] + " " + list[list.length - 1];
}

function guarded(limit) {
  let caught = 0;
  for (let i = 0; i < limit; i++) {
    try { if (i % 3 === 0) throw new Error("three"); } catch (e) { caught++; }
  }
  return caught;
}

print("fib", fib(16 + Math.floor(Math.log2(n))));
print("sieve", sieve(20000 * n));
print("words", words(5000 * n));
print("guarded", guarded(2000 * n));
const text = "the quick brown fox jumps over the lazy dog. ".repeat(40 * n);
print("pattern", text.replace(/(\w+) (\w+)/g, "$2 $1").length, text.match(/[aeiou]/g).length);
print("json", JSON.stringify(JSON.parse(JSON.stringify({ a: [1, 2, { b: "c" }], d: null }))));
