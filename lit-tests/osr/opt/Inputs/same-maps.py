"""Compares the mappings that the pass prints with those of a binary: same-maps.py PASS BINARY.

The binary has those of the functions that can go over from base. Prints their names.
"""

import json
import sys


def maps(path):
    with open(path) as file:
        return {function["name"]: function["maps"] for function in json.load(file)["functions"]}


printed, read = map(maps, sys.argv[1:])
leads = [
    name
    for name, of in printed.items()
    if any("landing" in point for point in of["points"]["base_to_opt"])
]
assert set(read) == set(leads), (sorted(read), sorted(leads))
for name in leads:
    assert read[name] == printed[name], name
print(", ".join(sorted(leads)))
