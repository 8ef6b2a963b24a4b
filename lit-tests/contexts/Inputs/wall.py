"""wall.py FILE COMMAND...: runs a command, and writes `wall MILLISECONDS` to a file: how long it took at most."""

import subprocess
import sys
import time

began = time.monotonic()
status = subprocess.run(sys.argv[2:]).returncode
with open(sys.argv[1], "w") as file:
    file.write(f"wall {int((time.monotonic() - began) * 1000) + 1}\n")
sys.exit(status)
