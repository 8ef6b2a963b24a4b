"""fire.py PLAIN PROGRAM FIRE...: PROGRAM, fired in each way, prints what PLAIN prints.

Each way is a value of MIDFLIGHT_OSR_FIRE. A way that makes no transition at all is an error too: then
nothing was tested. `!FIRE` expects another output instead (a mutant).
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


def transitions(log):
    with open(log) as lines:
        events = [json.loads(line) for line in lines]
    return sum(e["transitions"] for e in events if e["event"] == "transition")


plain, program, ways = sys.argv[1], sys.argv[2], sys.argv[3:]
expected = run(plain)
for way in ways:
    fire = way.removeprefix("!")
    with tempfile.TemporaryDirectory() as directory:
        log = os.path.join(directory, "log")
        found = run(program, MIDFLIGHT_OSR_FIRE=fire, MIDFLIGHT_OSR_LOG=log)
        # A mutant may crash, and then there is no log.
        count = transitions(log) if os.path.exists(log) else None
    if (found == expected) == way.startswith("!"):
        sys.exit(f"{fire}: expected {expected}\nfound {found}\nafter {count} transitions")
    if count == 0:
        sys.exit(f"{fire}: no transition was made")
