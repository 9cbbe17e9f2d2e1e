#!/usr/bin/env python3
"""Each fuzz target for its share of the time, from the committed corpora."""

import re
import subprocess
import time

import common


def fuzz(target, seconds):
    """Runs one target; returns how many inputs it tried, and what it said if it failed."""
    module, _, subject = target.name.removeprefix("fuzz_").partition("_")
    found = common.ROOT / "build/fuzz/found" / target.name
    found.mkdir(parents=True, exist_ok=True)
    command = [target, f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048"]
    command += ["-print_final_stats=1", f"-artifact_prefix={found}/", found]
    command.append(common.ROOT / "sennit" / module / "corpus" / subject)
    result = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    units = re.search(r"number_of_executed_units: (\d+)", result.stderr)
    failure = None if result.returncode == 0 else f"{target.name}: {result.stderr[-2000:]}"
    return int(units[1]) if units else 0, failure


def test(deadline, seed):
    """Fuzzes every target that was built."""
    del seed
    targets = sorted((common.ROOT / "build/fuzz/bin").glob("fuzz_*"))
    counts = {"inputs": 0, "targets": len(targets), "failures": []}
    if not targets:
        counts["failures"].append("no fuzz target is built: cmake --build --preset fuzz")
    for left, target in zip(range(len(targets), 0, -1), targets):
        share = max(1, int((deadline - time.monotonic()) / left))
        inputs, failure = fuzz(target, share)
        counts["inputs"] += inputs
        counts["failures"] += [failure] if failure else []
    return counts


common.run(__doc__, test)
