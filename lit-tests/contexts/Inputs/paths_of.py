"""paths_of.py CONTEXTS PATHS FUNCTION...: compares the JSON of `midflight show --contexts` and that of
`midflight report --context-paths`, of a run in which each context has paths of its own.

Of each of the functions each context is there, with its activations, and the paths of all contexts are those of the function.
With `-` in the place of the functions, nothing but the sums is checked, as where not all contexts have their own.
"""

import json
import sys

with open(sys.argv[1]) as file:
    contexts = json.load(file)["contexts"]
with open(sys.argv[2]) as file:
    document = json.load(file)
by_name = {function["name"]: function for function in document["functions"]}
names = [] if sys.argv[3] == "-" else sys.argv[3:]


def callers(context):
    """The functions that have led to a context, with the lines of their calls, outermost first."""
    way = []
    while context["parent"] is not None:
        parent = contexts[context["parent"]]
        way.insert(0, (parent["function"], context["site"]["outer_line"]))
        context = parent
    return tuple(way)


for name in names:
    function = by_name[name]
    expected = {callers(context): 0 for context in contexts if context["function"] == name}
    for context in contexts:
        if context["function"] == name:
            expected[callers(context)] += context["count"]
    found = dict.fromkeys(expected, 0)
    for context in function["contexts"]:
        found[tuple((caller["function"], caller["line"]) for caller in context["callers"])] += context["entries"]
    assert found == expected, (name, found, expected)
    assert function["others"]["entries"] == 0 and not any(function["others"]["paths"]), function["others"]
for function in document["functions"]:
    rows = [*function["contexts"], function["others"]]
    assert sum(row["entries"] for row in rows) == function["entries"], function["name"]
    for place, path in enumerate(function["paths"]):
        assert sum(row["paths"][place] for row in rows) == path["count"], (function["name"], path)
