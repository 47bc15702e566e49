"""Runs the tests with foreign clients, two files at a time, and says in one line how they went.

usage: run.py [MODULE]

Each file has daemons of its own, so that files do not disturb each other.
"""

import re
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent

# Files at once: what they do is mostly waiting.
AT_ONCE = 2

# Longest time for one file, in seconds.
PATIENCE = 900


def run_one(module):
    """Runs one file in this process."""
    found = unittest.defaultTestLoader.loadTestsFromName(module)
    result = unittest.TextTestRunner(verbosity=2).run(found)
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    passed = result.testsRun - failed - len(result.skipped)
    print(f"{passed} passed, {failed} failed, {len(result.skipped)} skipped", flush=True)
    # Nothing found is no success, and neither is what was passed over.
    return 0 if failed == 0 and passed > 0 and not result.skipped else 1


def run_apart(module):
    """Runs one file in a process of its own; gives its counts and what it said."""
    try:
        ran = subprocess.run(
            [sys.executable, str(HERE / "run.py"), module],
            cwd=HERE,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired as late:
        return [0, 1, 0], f"{module}: not done after {late.timeout} s\n{late.stdout or ''}"
    counts = re.findall(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", ran.stdout, re.MULTILINE)
    counts = [int(count) for count in counts[-1]] if counts else [0, 1, 0]
    if ran.returncode != 0 and counts[1] == 0 and counts[2] == 0:
        counts[1] = 1
    return counts, ran.stdout


def main():
    if len(sys.argv) > 1:
        return run_one(sys.argv[1])
    # The longest first, so that none of them is left alone at the end.
    found = sorted(HERE.glob("test_*.py"), key=lambda path: -path.stat().st_size)
    modules = [path.stem for path in found]
    totals = [0, 0, 0]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for module, (counts, said) in zip(modules, pool.map(run_apart, modules)):
            print(f"== {module}\n{said}", flush=True)
            totals = [total + count for total, count in zip(totals, counts)]
    passed, failed, skipped = totals
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return 0 if failed == 0 and passed > 0 and skipped == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
