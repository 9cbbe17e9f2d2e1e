"""What the long tests share: their command line, their clock, and how they report."""

import argparse
import json
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/harness"))
import service  # noqa: E402,F401


def backends():
    """Those that this kernel allows."""
    return ["epoll"] + (["uring"] if service.uring_refusal() is None else [])


def run(description, test):
    """Runs test(deadline, seed) and prints its counts as one line of JSON; fails if it says so.

    `deadline` is of time.monotonic(). `test` returns a dictionary of counts with a list "failures".
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    arguments = parser.parse_args()
    counts = test(time.monotonic() + arguments.seconds, arguments.seed)
    print(json.dumps({"seed": arguments.seed, **counts}))
    sys.exit(bool(counts["failures"]))
