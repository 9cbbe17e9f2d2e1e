#!/usr/bin/env python3
"""hello on SIGTERM: answers what it was asked, drops nothing, ends with status 0."""

import signal
import threading
import time
import unittest

import backends
import wire

CLIENTS = 16
LOAD_SECONDS = 0.5


class Client(threading.Thread):
    """Asks on one connection, again and again, until told that the connection closes."""

    def __init__(self, server, path):
        super().__init__(daemon=True)
        self.connection = wire.Connection(server.address, server.port)
        self.path = path
        self.answered, self.problem = 0, None
        self.start()

    def run(self):
        try:
            while True:
                response = self.connection.get(self.path)
                if (response.status, response.body) != (200, b"hello world"):
                    raise wire.Dropped(f"status {response.status}, body {response.body[:80]!r}")
                self.answered += 1
                if response.headers.get("connection") == "close":
                    return
        except (wire.Dropped, OSError) as problem:
            self.problem = f"{self.path} after {self.answered} answers: {problem}"
        finally:
            self.connection.close()


def refuses_soon(server):
    """Whether it stops accepting connections before the slow request can have ended."""
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        try:
            wire.Connection(server.address, server.port).close()
        except ConnectionRefusedError:
            return True
        time.sleep(0.01)
    return False


@backends.on_each_backend
class Drain:
    backend = None

    def test_drops_no_response_under_load(self):
        for workers in (1, 2):
            with backends.hello(self.backend, workers=workers) as server:
                paths = ("/status", "/status-coro", "/delayed", "/delayed-coro")
                clients = [Client(server, paths[i % len(paths)]) for i in range(CLIENTS)]
                time.sleep(LOAD_SECONDS)
                status = server.stop(signal.SIGTERM)
                for client in clients:
                    client.join(100)
                    self.assertFalse(client.is_alive(), f"{client.path} still waits")
                self.assertEqual([c.problem for c in clients if c.problem], [], server.said())
                self.assertGreater(min(client.answered for client in clients), 0)
                self.assertEqual(status, 0, server.said())

    def test_answers_all_that_was_pipelined(self):
        request = b"GET /delayed-coro HTTP/1.1\r\nHost: test\r\n\r\n"
        with backends.hello(self.backend) as server:
            with wire.Connection(server.address, server.port) as connection:
                connection.get("/status")
                connection.send(request * 5)
                time.sleep(0.005)
                server.process.send_signal(signal.SIGTERM)
                for _ in range(5):
                    self.assertEqual(connection.read().body, b"hello world")
                self.assertTrue(connection.at_end())
            self.assertEqual(server.process.wait(100), 0)

    def test_ends_at_once_when_all_are_idle(self):
        for how in (signal.SIGTERM, signal.SIGINT):
            with backends.hello(self.backend) as server:
                with wire.Connection(server.address, server.port) as connection:
                    connection.get("/status")
                    self.assertEqual(server.stop(how), 0)
                    self.assertTrue(connection.at_end())

    def test_takes_no_new_connections_while_it_ends(self):
        with backends.hello(self.backend, "--slow-us", "3000000") as server:
            with wire.Connection(server.address, server.port) as connection:
                connection.send(b"GET /long_req/ HTTP/1.1\r\nHost: test\r\n\r\n")
                time.sleep(0.1)
                server.process.send_signal(signal.SIGTERM)
                self.assertTrue(refuses_soon(server), "it goes on accepting")
                self.assertEqual(connection.read().status, 200)
            self.assertEqual(server.process.wait(100), 0)


if __name__ == "__main__":
    unittest.main()
