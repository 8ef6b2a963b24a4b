"""Reads the JSON of `midflight show` and checks each argument, a Python expression, to be true.

In an expression, `f(NAME)` is a function, `total(NAME)` the number of acyclic paths it took,
`completed(NAME)` how many activations ended, and `count(NAME, LINES...)` how often a sequence was
taken whose steps begin on these lines.
"""

import json
import sys

document = json.load(sys.stdin)
assert document["version"] == 2


def f(name):
    found = [g for g in document["functions"] if g["name"] == name]
    assert found, f"no function {name}"
    return found[0]


def total(name):
    return sum(p["count"] for p in f(name)["paths"] if len(p["ids"]) == 1)


def completed(name):
    return f(name)["entries"] - f(name)["interrupted"]


def count(name, *lines):
    return sum(
        p["count"]
        for p in f(name)["paths"]
        if len(p["ids"]) == len(lines) and all(l in s for l, s in zip(lines, p["lines"]))
    )


for expression in sys.argv[1:]:
    if not eval(expression):
        summary = {g["name"]: (g["entries"], g["interrupted"]) for g in document["functions"]}
        sys.exit(f"false: {expression}\nentries and interrupted: {summary}")
