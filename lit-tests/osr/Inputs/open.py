"""open.py PLAIN PROGRAM CODE-GENERATOR WAY...: PROGRAM, which has open points, prints what PLAIN prints.

A way is `never`, `now` or `background` (MIDFLIGHT_OSR_COMPILE), or one of MIDFLIGHT_OSR_EXIT, under
which versions are made at once and left where they need not be. Where no version was made, or none
was left that should have been, nothing was tested: an error. `!WAY` expects another output (a mutant).
`-no-exits` before the ways: there are no guards.
"""

import json
import os
import subprocess
import sys
import tempfile


def run(program, **environment):
    done = subprocess.run(
        [program], capture_output=True, timeout=300, env={**os.environ, **environment}
    )
    return done.returncode, done.stdout, done.stderr


plain, program, generator, ways = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
has_guards = ways[:1] != ["-no-exits"]
expected = run(plain)
for way in ways[0 if has_guards else 1 :]:
    kind = way.removeprefix("!")
    compiling = {"MIDFLIGHT_OSR_COMPILE": "now", "MIDFLIGHT_OSR_EXIT": kind}
    if kind in ["never", "now", "background"]:
        compiling = {"MIDFLIGHT_OSR_COMPILE": kind}
    with tempfile.TemporaryDirectory() as directory:
        log = os.path.join(directory, "log")
        found = run(program, MIDFLIGHT_JIT=generator, MIDFLIGHT_OSR_LOG=log, **compiling)
        events = []
        if os.path.exists(log):
            with open(log) as lines:
                events = [json.loads(line) for line in lines]
    versions = [e for e in events if e["event"] == "version"]
    if (found == expected) == way.startswith("!"):
        sys.exit(f"{kind}: expected {expected}\nfound {found}\n{versions}")
    if way.startswith("!"):
        continue
    ready = [e for e in versions if e["state"] == "ready"]
    if bool(ready) != (kind != "never") and kind != "background":
        sys.exit(f"{kind}: versions {versions}")
    if "MIDFLIGHT_OSR_EXIT" in compiling and has_guards:
        if not any(e["checks"] for e in ready) or not any(e["exits"] for e in ready):
            sys.exit(f"{kind}: no guard failed: {ready}")
