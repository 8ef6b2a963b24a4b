"""tree.py SOURCE EXPRESSION...: reads the JSON of `midflight show --contexts`, and checks each expression of Python to be true.

In an expression, `c(STEP...)` is how often the context was there that leads from a root through these steps, with all
call sites, and `size(STEP...)` how many such contexts there are. A step is a function, `FUNCTION@PLACE` if it was called
on the line of the source that ends in `// @PLACE`, `FUNCTION@tail` if it was called in tail position. `n(NAME)` adds up all
contexts of a function, `elsewhere_of` has the functions with activations that have none, `callers(NAME)` are the functions that these are called from, `nodes` is how many contexts there are,
and `total` how many activations there were in them. `mode` is `cct`, or `hcct` where only hot contexts were kept; then
`between(STEP…)` are the bounds of a count.

`time` is the document's, and `own(STEP…)` and `within(STEP…)` are the milliseconds in contexts, and with what they called.

An argument `@FILE` names a file with lines `NAME VALUE`, which are values of `v`.

In any case times add up, and counts and what is elsewhere are all activations, no count is wrong, and no context is there twice.
"""

import json
import re
import sys

document = json.load(sys.stdin)
assert document["version"] == 1 and document["mode"] in ("cct", "hcct"), document["mode"]
mode, floor = document["mode"], document["floor"]
elsewhere, activations = document["elsewhere"], document["activations"]
contexts = document["contexts"]
elsewhere_of = {at["function"]: at["count"] for at in document["elsewhere_of"]}
assert sum(elsewhere_of.values()) <= elsewhere, (elsewhere_of, elsewhere)
with open(sys.argv[1]) as source:
    marks = (re.search(r"// @(\w+)$", line) for line in source)
    lines = {mark[1]: number for number, mark in enumerate(marks, 1) if mark}
v = {}


def above(context):
    """The context and those above it, up to the root."""
    while context is not None:
        yield context
        context = None if context["parent"] is None else contexts[context["parent"]]


def is_step(context, step):
    name, _, place = step.partition("@")
    site = context["site"] or {"line": 0, "tail": False}
    where = not place or (site["tail"] if place == "tail" else site["line"] == lines[place])
    return context["function"] == name and where


def is_path(context, steps):
    for step in reversed(steps):
        if context is None or not is_step(context, step):
            return False
        context = None if context["parent"] is None else contexts[context["parent"]]
    return context is None


def found(steps):
    return [context for context in contexts if is_path(context, steps)]


def c(*steps):
    return sum(context["count"] for context in found(steps))


def between(*steps):
    return c(*steps) - sum(context["error"] for context in found(steps)), c(*steps)


def size(*steps):
    return len(found(steps))


def n(name):
    return sum(context["count"] for context in contexts if context["function"] == name)


def callers(name):
    ups = (context["parent"] for context in contexts if context["function"] == name)
    return {None if up is None else contexts[up]["function"] for up in ups}


def milliseconds(steps, which):
    return sum(context["time"][which] for context in found(steps)) / 1e6


def own(*steps):
    return milliseconds(steps, "self")


def within(*steps):
    return milliseconds(steps, "total")


nodes = len(contexts)
total = sum(context["count"] for context in contexts)
if mode == "cct":
    assert total + elsewhere == activations, (total, elsewhere, activations)
    assert not any(context["error"] for context in contexts)
else:
    # Those that lead to hot contexts alone have no more than the floor.
    assert total + elsewhere >= activations, (total, elsewhere, activations)
    assert all(context["error"] <= min(floor, context["count"]) for context in contexts)
time = document["time"]
assert all((time is None) == (context["time"] is None) for context in contexts)
if time:
    sums = [context["time"]["self"] for context in contexts]
    assert sum(sums) + time["elsewhere"] == time["total"], (sum(sums), time)
    for at in reversed(range(nodes)):
        assert sums[at] == contexts[at]["time"]["total"], contexts[at]
        if contexts[at]["parent"] is not None:
            sums[contexts[at]["parent"]] += sums[at]
keys = {
    (at["parent"], at["function"], at["file"], at["line"], at["site"] and at["site"]["slot"]) for at in contexts
}
assert len(keys) == len(contexts), "contexts are there twice"

for argument in sys.argv[2:]:
    if argument.startswith("@"):
        with open(argument[1:]) as file:
            v.update((name, int(value)) for name, value in map(str.split, file))
    elif not eval(argument):
        tree = [
            "  " * len(list(above(at))) + f"{at['count']} {at['function']} {at['site'] and at['site']['line']}"
            for at in contexts[:60]
        ]
        sys.exit("\n".join([f"false: {argument}", f"elsewhere {elsewhere}", *tree]))
