"""within.py ALL PART: reads two outputs of `midflight show --format json --contexts` of one program, and checks that the
second has no context that the first has not, and none more often."""

import json
import sys


def counts(path):
    with open(path) as file:
        document = json.load(file)
    contexts, found = document["contexts"], {}
    for context in contexts:
        site = context["site"]
        step = (context["function"], site and (site["slot"], site["tail"]))
        above = () if context["parent"] is None else contexts[context["parent"]]["way"]
        context["way"] = above + (step,)
        found[context["way"]] = found.get(context["way"], 0) + context["count"]
    return document, found


every, part = counts(sys.argv[1]), counts(sys.argv[2])
assert part[0]["bursts"] is not None and every[0]["bursts"] is None
wrong = {way: count for way, count in part[1].items() if count > every[1].get(way, 0)}
for way, count in wrong.items():
    print(f"{count} of {every[1].get(way, 0)}:", " > ".join(f"{name}@{site}" for name, site in way), file=sys.stderr)
sys.exit(bool(wrong))
