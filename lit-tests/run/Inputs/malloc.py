"""Are the entries of an allocator's functions the calls that it has counted itself?

    midflight show --format json … | malloc.py COUNTS [LEAST]

COUNTS is what MALLOC_COUNTS named; LEAST is the least sum of calls, so that they are not all zero."""

import json
import sys

profile = json.load(sys.stdin)
entries = {f["name"]: f["entries"] for f in profile["functions"]}
counts = {name: int(number) for name, number in (line.split() for line in open(sys.argv[1]))}
wrong = [
    f"{name}: {number} calls, {entries.get(name, 0)} entries"
    for name, number in counts.items()
    if entries.get(name, 0) != number
]
least = int(sys.argv[2]) if len(sys.argv) > 2 else 1
if sum(counts.values()) < least:
    wrong.append(f"only {sum(counts.values())} calls")
print("\n".join(wrong), end="")
sys.exit(bool(wrong))
