"""hits.py LOG [FUNCTION HITS]...: the first point of each function is hit so often."""

import json
import sys

points = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
for name, hits in zip(sys.argv[2::2], sys.argv[3::2]):
    first = [p["hits"] for p in points if p["event"] == "point" and p["point"] == name + "#0"]
    if first != [int(hits)]:
        sys.exit(f"{name}: {first} hits, expected {hits}")
