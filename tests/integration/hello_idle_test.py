#!/usr/bin/env python3
"""hello holds 10,000 idle connections, in little memory, and still answers."""

import os
import resource
import unittest

import backends
import wire

CONNECTIONS = int(os.environ.get("SENNIT_IDLE_CONNECTIONS", 10_000))
# A connection is a small object and its slots in the backend; no stack, no buffer.
BYTES_PER_CONNECTION_MAX = 4096


@backends.on_each_backend
class Idle:
    backend = None

    def setUp(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = CONNECTIONS + 500
        if hard != resource.RLIM_INFINITY and hard < wanted:
            self.skipTest(f"the limit of open files is {hard}, needed {wanted}")
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))

    def test_costs_no_stack_and_no_buffer(self):
        with backends.hello(self.backend) as server:
            with wire.Connection(server.address, server.port) as first:
                self.assertEqual(first.get("/status").status, 200)
            before = server.resident_bytes()
            idle = []
            for _ in range(CONNECTIONS):
                idle.append(wire.Connection(server.address, server.port))
                self.assertEqual(idle[-1].get("/status").status, 200)
            each = (server.resident_bytes() - before) / CONNECTIONS
            print(f"{self.backend}: {each:.0f} bytes of memory per idle connection", flush=True)
            for connection in idle[:: CONNECTIONS // 50]:
                self.assertEqual(connection.get("/delayed").body, b"hello world")
            with wire.Connection(server.address, server.port) as another:
                self.assertEqual(another.get("/status").status, 200)
            for connection in idle:
                connection.close()
            with wire.Connection(server.address, server.port) as last:
                self.assertEqual(last.get("/status").status, 200)
            self.assertEqual(server.stop(), 0)
        if "SENNIT_SANITIZED" not in os.environ:  # Sanitizers have memory of their own.
            self.assertLess(each, BYTES_PER_CONNECTION_MAX)


if __name__ == "__main__":
    unittest.main()
