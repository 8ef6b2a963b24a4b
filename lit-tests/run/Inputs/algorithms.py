"""Compiles and runs a program with each algorithm, and compares what their profiles show.

    algorithms.py MIDFLIGHT FOLDER COMPILER [FLAGS…] SOURCE

Children that the program forks write profiles of their own, which are added up.
"""

import glob
import os
import subprocess
import sys

midflight, folder, *compile = sys.argv[1:]
shown = []
for algorithm in ["automaton", "published"]:
    here = os.path.join(folder, algorithm)
    os.makedirs(here)
    program, profile = os.path.join(here, "prog"), os.path.join(here, "sum.mfp")
    subprocess.run(compile + ["--midflight-algorithm=" + algorithm, "-o", program], check=True)
    environment = dict(os.environ, MIDFLIGHT_PROFILE=os.path.join(here, "%p.mfp"))
    ended = subprocess.run([program], env=environment).returncode
    parts = glob.glob(os.path.join(here, "*.mfp"))
    subprocess.run([midflight, "merge", "-o", profile] + parts, check=True)
    subprocess.run([midflight, "check", program, profile], check=True, stdout=subprocess.DEVNULL)
    text = subprocess.run([midflight, "show", program, profile], check=True, capture_output=True)
    assert text.stdout.count(b"count=") > 1, text.stdout
    shown.append((ended, len(parts), text.stdout.decode().splitlines()))
for one, other in zip(shown[0][2], shown[1][2]):
    assert one == other, f"{one}\n{other}"
assert shown[0] == shown[1]
