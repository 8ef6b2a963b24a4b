"""fold.py [--bounds] LEVELS FOLDED: reads two outputs of `midflight show --format json --contexts` of one deterministic program,
and checks that the second is what the first becomes when recursion is folded, context by context.

That is, for each context from the root on: it is called in the place where the context above goes on. If its function is there
already, or above it, the context goes on in that, and else in itself.

With `--bounds` both are folded, the second has hot contexts alone, and counts are within what is told of them.
"""

import json
import sys


def read(path):
    with open(path) as file:
        return json.load(file)


def function(context):
    return context["function"], context["file"], context["line"]


def site(context):
    return None if context["site"] is None else (context["site"]["slot"], context["site"]["line"])


def folded(document):
    """The contexts by the way to them, each with its count and whether it goes on elsewhere."""
    found, goes_on = {}, {}
    for context in document["contexts"]:
        above = () if context["parent"] is None else goes_on[context["parent"]]
        step = (function(context), site(context))
        way = above + (step,)
        same = [length for length in range(len(above), 0, -1) if above[length - 1][0] == step[0]]
        goes_on[context["id"]] = way[: same[0]] if same else way
        count, error, _ = found.get(way, (0, 0, False))
        found[way] = (count + context["count"], error + context["error"], bool(same))
    return found


def as_it_is(document):
    found, ways, leads = {}, [], set()
    for context in document["contexts"]:
        if context["parent"] is not None:
            leads.add(context["parent"])
        way = (() if context["parent"] is None else ways[context["parent"]]) + ((function(context), site(context)),)
        ways.append(way)
        found[way] = (context["count"], context["error"], context["recursive"])
    for context in document["contexts"]:
        assert not (context["recursive"] and context["id"] in leads), context
    return found


def shown(way):
    return " > ".join(f"{step[0][0]}@{step[1] and step[1][1]}" for step in way)


bounds = sys.argv[1] == "--bounds"
first, second = map(read, sys.argv[-2:])
assert not any(context["recursive"] for context in first["contexts"]) or bounds
wanted, is_there = (as_it_is if bounds else folded)(first), as_it_is(second)
wrong = []
if bounds:
    assert second["mode"] == "hcct"
    for way in wanted.keys() | is_there.keys():
        true = wanted.get(way, (0, 0, False))[0]
        count, error, _ = is_there.get(way, (second["floor"], second["floor"], False))
        if not count - error <= true <= count:
            wrong.append(f"{count - error} to {count} of {true}: {shown(way)}")
else:
    for way in sorted(wanted.keys() | is_there.keys(), key=shown):
        if wanted.get(way) != is_there.get(way):
            wrong.append(f"{is_there.get(way)} in place of {wanted.get(way)}: {shown(way)}")
    for what in ("activations", "elsewhere"):
        if first[what] != second[what]:
            wrong.append(f"{what}: {second[what]} in place of {first[what]}")
sys.exit("\n".join(wrong[:40]) or 0)
