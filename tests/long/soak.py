#!/usr/bin/env python3
"""Many requests over few and many connections: hello keeps its memory and its descriptors."""

import json
import os
import subprocess
import tempfile
import time

import common
import service

ROUND_SECONDS = 3
GROWTH_BYTES_MAX = 8 * 1024 * 1024  # Between the first rounds, which warm up, and the last.


def load(server, path, connections):
    """Drives the server for a round; returns the report of `sennit load`."""
    with tempfile.NamedTemporaryFile("r", suffix=".json") as report:
        url = f"http://{server.address}:{server.port}{path}"
        command = [service.program("sennit"), "load", url, "-c", str(connections)]
        command += ["-d", f"{ROUND_SECONDS}s", "-t", "1", "--json", report.name]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return json.load(report)


def soak(backend, deadline, counts):
    """Rounds until the time is up; compares the first with the last."""
    with service.hello(backend) as server:
        warm = None
        while True:
            for path, connections in (("/status", 100), ("/status-coro", 1000), ("/delayed", 500)):
                report = load(server, path, connections)
                counts["requests"] += report["requests"]
                if any(report["errors"].values()):
                    counts["failures"].append(f"{backend} {path}: {report['errors']}")
            time.sleep(1)  # For the server to see that the connections are gone.
            now = (server.resident_bytes(), len(os.listdir(f"/proc/{server.pid}/fd")))
            if warm is None:
                warm = now
            if now[0] - warm[0] > GROWTH_BYTES_MAX:
                counts["failures"].append(f"{backend}: grew from {warm[0]} to {now[0]} bytes")
            if now[1] > warm[1]:
                counts["failures"].append(f"{backend}: {warm[1]} descriptors became {now[1]}")
            if counts["failures"] or time.monotonic() > deadline:
                return


def test(deadline, seed):
    """Soaks each backend for its share of the time."""
    del seed
    counts = {"requests": 0, "failures": []}
    names = common.backends()
    begun = time.monotonic()
    for number, backend in enumerate(names, start=1):
        soak(backend, begun + (deadline - begun) * number / len(names), counts)
    return counts


common.run(__doc__, test)
