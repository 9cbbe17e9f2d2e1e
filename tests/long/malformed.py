#!/usr/bin/env python3
"""Damaged requests against a running hello: it lives on, serves honest clients, keeps its size."""

import random
import socket
import time

import common
import service
import wire

SEEDS = [
    b"GET /status HTTP/1.1\r\nHost: test\r\n\r\n",
    b"POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\n\r\nhello",
    b"POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5\r\nhello\r\n0\r\n\r\n",
    b"GET /body/10 HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\n\r\n",
]
WORDS = [b"\r", b"\n", b"\0", b" ", b":", b"\r\n\r\n", b"Content-Length: 9", b"chunked",
         b"%00", b"-1", b"ffffffffffffffff", b"\xff\xfe", b"A" * 9000, b"HTTP/9.9"]
KEPT_BYTES_MAX = 32 * 1024 * 1024
HONEST_SECONDS_MAX = 1.0


def damaged(chance):
    """A request with a few random changes."""
    data = bytearray(b"".join(chance.choices(SEEDS, k=chance.randint(1, 3))))
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data) + 1)
        kind = chance.randrange(4)
        if kind == 0:
            data[at:at] = chance.choice(WORDS)
        elif kind == 1:
            del data[at : at + chance.randint(1, 8)]
        elif kind == 2 and at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        else:
            del data[at:]
    return bytes(data)


def send_damaged(server, chance):
    """One damaged request, ended in a random way."""
    with socket.create_connection((server.address, server.port), timeout=60) as client:
        client.sendall(damaged(chance))
        ending = chance.randrange(3)
        try:
            if ending == 0:
                client.shutdown(socket.SHUT_WR)
                while client.recv(65536):
                    pass
            elif ending == 1:
                client.setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0"
                )  # Closing sends a reset.
        except (ConnectionResetError, BrokenPipeError):
            pass


def attack(server, deadline, chance, counts):
    """Damaged requests, with an honest one now and then."""
    resident_before = server.resident_bytes()
    while time.monotonic() < deadline:
        for _ in range(50):
            try:
                send_damaged(server, chance)
            except (ConnectionResetError, BrokenPipeError):
                pass
            counts["malformed"] += 1
        begun = time.monotonic()
        with wire.Connection(server.address, server.port) as honest:
            if honest.get("/status").status != 200:
                counts["failures"].append("an honest request was not answered")
        if time.monotonic() - begun > HONEST_SECONDS_MAX:
            counts["failures"].append("an honest request waited more than a second")
    kept = server.resident_bytes() - resident_before
    if kept > KEPT_BYTES_MAX:
        counts["failures"].append(f"{kept} bytes of memory were not given back")


def test(deadline, seed):
    """Attacks each backend for its share of the time."""
    chance = random.Random(seed)
    counts = {"malformed": 0, "failures": []}
    names = common.backends()
    begun = time.monotonic()
    for number, backend in enumerate(names, start=1):
        with service.hello(backend) as server:
            share = begun + (deadline - begun) * number / len(names)
            try:
                attack(server, share, chance, counts)
            except (wire.Dropped, OSError) as problem:
                counts["failures"].append(f"{backend}: {problem}; it said: {server.said()}")
    return counts


common.run(__doc__, test)
