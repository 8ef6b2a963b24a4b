"""Runs a program that ends in each of many ways, and checks what it leaves.

endings.py PROGRAM DIRECTORY MIDFLIGHT
"""

import json
import os
import signal
import subprocess
import sys
import time

program, directory, midflight = sys.argv[1:]
TERM, ABRT, SEGV = (-int(number) for number in (signal.SIGTERM, signal.SIGABRT, signal.SIGSEGV))

# How it ends; the status; how often the function was called, in each process that leaves a profile.
WAYS = {
    "return": (0, [1000]),
    "err": (3, [1000]),
    "errx": (3, [1000]),
    "error": (3, [1000]),
    "error_at_line": (3, [1000]),
    "assert": (ABRT, [1000]),
    "assert_perror": (ABRT, [1000]),
    "stack_chk_fail": (ABRT, [1000]),
    "fortify_fail": (ABRT, [1000]),
    "double_free": (ABRT, [1000]),
    "quick_exit": (3, [1000]),
    "_Exit": (3, [1000]),
    "exit_group": (3, [1000]),
    "syscall_execve": (0, [1000]),
    "execveat": (0, [1000]),
    "fexecve": (0, [1000]),
    "execvpe": (0, [1000]),
    "exit_in_exit": (8, [1001]),
    "pthread_exit": (0, [1001]),
    "thrd_exit": (0, [1000]),
    "context": (0, [1001]),
    "spawn": (3, [1000]),
    "reset": (SEGV, [1000]),
    "sysv_signal": (TERM, [1000]),
    "sigset": (TERM, [1000]),
    "bsd_signal": (TERM, [1000]),
    "stack_off": (SEGV, [1000]),
    "daemon": (0, [1, 1000]),
    # What the child counts is lost: it was made behind libc's back.
    "_Fork": (3, [1000]),
}


def calls(profile):
    """How often the function has completed."""
    text = subprocess.run(
        [midflight, "show", "--format", "json", program, profile], check=True, capture_output=True
    ).stdout
    functions = [f for f in json.loads(text)["functions"] if f["name"] == "work"]
    return sum(function["entries"] - function["interrupted"] for function in functions)


def profiles(place):
    """The profiles in a directory, but those that are not whole yet."""
    return [os.path.join(place, name) for name in os.listdir(place) if name.endswith(".mfp")]


failed = False
for how, (status, expected) in WAYS.items():
    if how == "fortify_fail" and os.environ.get("MIDFLIGHT_LEVEL") == "-O0":
        # Nothing is checked without the optimizer.
        continue
    for pattern in ["%p.mfp", "%m.mfp", "%c%p.mfp"]:
        if how == "_Fork" and pattern.startswith("%c"):
            # Its calls of a path that is known already are in its parent's file.
            continue
        place = os.path.join(directory, how + "-" + pattern.replace("%", ""))
        os.makedirs(place)
        environment = dict(os.environ, MIDFLIGHT_PROFILE=os.path.join(place, pattern))
        if pattern.startswith("%c"):
            environment["MIDFLIGHT_PROFILE"] = "%c" + os.path.join(place, pattern[2:])
        run = subprocess.run([program, how], env=environment, capture_output=True)
        wanted = [sum(expected)] if pattern == "%m.mfp" else expected
        # A daemon ends some time later.
        for _ in range(200):
            found = profiles(place)
            if len(found) >= len(wanted) and sorted(map(calls, found)) == wanted:
                break
            time.sleep(0.05)
        told = [line for line in run.stderr.decode().splitlines() if line.startswith("midflight")]
        result = (run.returncode, sorted(map(calls, profiles(place))), told)
        if result != (status, wanted, []):
            print(f"{how}, {pattern}: {result}, expected {(status, wanted)}")
            failed = True
        left = [name for name in os.listdir(place) if not name.endswith(".mfp")]
        if left:
            print(f"{how}, {pattern}: left {left}")
            failed = True
sys.exit(failed)
