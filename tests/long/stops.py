#!/usr/bin/env python3
"""SIGTERM under load, again and again: no response is dropped, and hello ends with status 0."""

import random
import signal
import threading
import time

import common
import service
import wire


def ask_until_told_to_close(server, path, problems):
    """Keeps asking on one connection; whatever is not answered is a problem."""
    try:
        with wire.Connection(server.address, server.port) as connection:
            while True:
                response = connection.get(path)
                if response.status != 200:
                    problems.append(f"{path}: status {response.status}")
                if response.headers.get("connection") == "close":
                    return
    except (wire.Dropped, OSError) as problem:
        problems.append(f"{path}: {problem}")


def stop_once(backend, chance):
    """One server, some clients, one stop at a random moment; returns what went wrong."""
    problems = []
    with service.hello(backend, workers=chance.choice([1, 2])) as server:
        paths = ["/status", "/delayed", "/delayed-coro", "/body/100000"]
        clients = [
            threading.Thread(
                target=ask_until_told_to_close, args=(server, chance.choice(paths), problems)
            )
            for _ in range(8)
        ]
        for client in clients:
            client.start()
        time.sleep(chance.uniform(0.02, 0.2))
        status = server.stop(signal.SIGTERM)
        for client in clients:
            client.join()
        if status != 0:
            problems.append(f"status {status}: {server.said()}")
    return [f"{backend}: {problem}" for problem in problems]


def test(deadline, seed):
    """Stops until the time is up."""
    chance = random.Random(seed)
    counts = {"stops": 0, "failures": []}
    while time.monotonic() < deadline and not counts["failures"]:
        for backend in common.backends():
            counts["failures"] += stop_once(backend, chance)
            counts["stops"] += 1
    return counts


common.run(__doc__, test)
