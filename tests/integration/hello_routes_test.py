#!/usr/bin/env python3
"""hello over real sockets, on both backends: every route, every refusal, pipelining."""

import shutil
import socket
import subprocess
import time
import unittest

import backends
import service
import wire

HOST = b"Host: test\r\n\r\n"


class HelloTest:
    """One hello serves all tests of a class."""

    backend = None

    @classmethod
    def setUpClass(cls):
        cls.server = backends.hello(cls.backend)

    @classmethod
    def tearDownClass(cls):
        status = cls.server.stop()
        if status:
            raise service.ServiceError(f"{cls.server} ended with {status}:\n{cls.server.said()}")

    def connect(self):
        connection = wire.Connection(self.server.address, self.server.port)
        self.addCleanup(connection.close)
        return connection

    def get(self, path, method="GET"):
        return self.connect().get(path, method)


@backends.on_each_backend
class Routes(HelloTest):
    def test_says_hello_from_a_fiber_and_from_a_coroutine(self):
        for path in ("/status", "/status-coro"):
            response = self.get(path)
            self.assertEqual((response.status, response.body), (200, b"hello world"), path)

    def test_waits_10_to_50_ms_where_it_says_so(self):
        for path in ("/delayed", "/delayed-coro"):
            connection = self.connect()
            for _ in range(5):
                start = time.monotonic()
                response = connection.get(path)
                took = time.monotonic() - start
                self.assertEqual((response.status, response.body), (200, b"hello world"), path)
                self.assertGreaterEqual(took, 0.010, path)
                self.assertLess(took, 1, path)  # 50 ms on a machine that is not busy.

    def test_waits_for_many_at_once(self):
        connections = [self.connect() for _ in range(100)]
        start = time.monotonic()
        for connection in connections:
            connection.send(b"GET /delayed HTTP/1.1\r\n" + HOST)
        for connection in connections:
            self.assertEqual(connection.read().status, 200)
        self.assertLess(time.monotonic() - start, 1)  # One after the other would take 3 s.

    def test_answers_the_slow_route_after_5_ms(self):
        start = time.monotonic()
        self.assertEqual(self.get("/long_req/").status, 200)
        self.assertGreaterEqual(time.monotonic() - start, 0.005)

    def test_sends_bodies_of_the_size_asked_for(self):
        for size in (0, 1, 1000, 65_536, 1_000_000):
            first, second = self.get(f"/body/{size}"), self.get(f"/body/{size}")
            self.assertEqual(first.status, 200, size)
            self.assertEqual(len(first.body), size)
            self.assertEqual(first.body, second.body, size)
            self.assertTrue(first.body.isascii(), size)

    def test_refuses_sizes_that_are_none(self):
        for size in ("abc", "-1", "99999999999999999999999"):
            self.assertIn(self.get(f"/body/{size}").status, (400, 404), size)

    def test_echoes_a_body_of_known_length(self):
        body = bytes(range(256)) * 100
        connection = self.connect()
        connection.send(b"POST /echo HTTP/1.1\r\nContent-Length: %d\r\n" % len(body) + HOST + body)
        self.assertEqual(connection.read().body, body)

    def test_echoes_a_chunked_body(self):
        connection = self.connect()
        connection.send(b"POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" + HOST)
        connection.send(b"5\r\nhello\r\n1;name=value\r\n \r\n5\r\nworld\r\n0\r\nTrailer: t\r\n\r\n")
        self.assertEqual(connection.read().body, b"hello world")
        self.assertEqual(connection.get("/status").body, b"hello world")

    def test_answers_head_with_the_length_and_no_body(self):
        connection = self.connect()
        response = connection.get("/status", "HEAD")
        self.assertEqual((response.status, response.headers["content-length"]), (200, "11"))
        self.assertEqual(connection.get("/status").body, b"hello world")

    def test_keeps_a_connection_open_and_closes_it_when_asked(self):
        connection = self.connect()
        for _ in range(3):
            self.assertEqual(connection.get("/status").status, 200)
        connection.send(b"GET /status HTTP/1.1\r\nConnection: close\r\n" + HOST)
        self.assertEqual(connection.read().status, 200)
        self.assertTrue(connection.at_end())

    def test_answers_http_1_0_and_closes(self):
        connection = self.connect()
        connection.send(b"GET /status HTTP/1.0\r\n\r\n")
        self.assertEqual(connection.read().body, b"hello world")
        self.assertTrue(connection.at_end())

    @unittest.skipUnless(shutil.which("curl"), "no curl here")
    def test_is_understood_by_curl(self):
        url = f"http://{self.server.address}:{self.server.port}"
        body = "b" * 3000
        for arguments, wanted in [
            (["/status"], "hello world"),
            (["/status-coro"], "hello world"),
            (["/delayed"], "hello world"),
            (["/delayed-coro"], "hello world"),
            (["/echo", "--data", body], body),
            (["/echo", "--data", body, "-H", "Transfer-Encoding: chunked"], body),
        ]:
            path, *options = arguments
            command = ["curl", "-sS", "--fail", "--max-time", "5", url + path, *options]
            done = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (0, wanted), (command, done.stderr))


@backends.on_each_backend
class Pipelining(HelloTest):
    REQUESTS = (
        (b"GET /status HTTP/1.1\r\n" + HOST, b"hello world"),
        (b"POST /echo HTTP/1.1\r\nContent-Length: 3\r\n" + HOST + b"abc", b"abc"),
        (b"GET /delayed HTTP/1.1\r\n" + HOST, b"hello world"),
        (b"GET /body/0 HTTP/1.1\r\n" + HOST, b""),
        (
            b"POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" + HOST
            + b"2\r\nde\r\n1\r\nf\r\n0\r\n\r\n",
            b"def",
        ),
        (b"GET /status-coro HTTP/1.1\r\n" + HOST, b"hello world"),
        (b"POST /echo HTTP/1.1\r\nContent-Length: 1\r\n" + HOST + b"g", b"g"),
    )

    def test_answers_in_order_when_all_come_at_once(self):
        connection = self.connect()
        connection.send(b"".join(request for request, _ in self.REQUESTS) * 20)
        for turn in range(20):
            for request, wanted in self.REQUESTS:
                self.assertEqual(connection.read().body, wanted, (turn, request))

    def test_answers_in_order_when_they_come_byte_by_byte(self):
        connection = self.connect()
        for byte in b"".join(request for request, _ in self.REQUESTS):
            connection.send(bytes([byte]))
            time.sleep(0.0005)
        for request, wanted in self.REQUESTS:
            self.assertEqual(connection.read().body, wanted, request)

    def test_answers_in_order_wherever_they_are_split(self):
        text = b"".join(request for request, _ in self.REQUESTS[:2])
        for split in range(1, len(text)):
            connection = self.connect()
            connection.send(text[:split])
            time.sleep(0.001)
            connection.send(text[split:])
            for request, wanted in self.REQUESTS[:2]:
                self.assertEqual(connection.read().body, wanted, (split, request))
            connection.close()

    def test_answers_everything_before_the_client_closes_its_side(self):
        connection = self.connect()
        connection.send(b"".join(request for request, _ in self.REQUESTS))
        connection.socket.shutdown(socket.SHUT_WR)
        for request, wanted in self.REQUESTS:
            self.assertEqual(connection.read().body, wanted, request)
        self.assertTrue(connection.at_end())


@backends.on_each_backend
class Refusals(HelloTest):
    def answer(self, data):
        connection = self.connect()
        try:
            connection.send(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # It may refuse before it has read all; what it said counts.
        return connection.read(), connection

    def test_400_for_what_is_no_request_and_closes(self):
        for data in [
            b"NONSENSE\r\n\r\n",
            b"GET /status\r\n\r\n",
            b"GET  /status HTTP/1.1\r\n" + HOST,
            b"GET /status HTTP/1.1\r\n\r\n",  # No Host.
            b"GET /status HTTP/1.1\r\nno colon\r\n" + HOST,
            b"GET /status HTTP/1.1\r\nName : value\r\n" + HOST,
            b"GET /status HTTP/1.1\r\nA: \x01\r\n" + HOST,
            b"POST /echo HTTP/1.1\r\nContent-Length: abc\r\n" + HOST,
            b"POST /echo HTTP/1.1\r\nContent-Length: -1\r\n" + HOST,
            b"POST /echo HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n" + HOST + b"ab",
            b"POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" + HOST + b"zz\r\n",
            b"POST /echo HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n"
            + HOST + b"0\r\n\r\n",
            bytes(range(128, 256)) + b"\r\n\r\n",
        ]:
            with self.subTest(data):
                response, connection = self.answer(data)
                self.assertEqual(response.status, 400)
                self.assertTrue(connection.at_end())

    def test_404_for_a_path_that_is_not_there_and_goes_on(self):
        connection = self.connect()
        for path in ("/", "/nothing", "/status/more", "/Status"):
            self.assertEqual(connection.get(path).status, 404, path)
        self.assertEqual(connection.get("/status").status, 200)

    def test_405_names_the_methods_that_would_do(self):
        for method, path, wanted in [("DELETE", "/status", "GET"), ("GET", "/echo", "POST")]:
            response = self.get(path, method)
            self.assertEqual(response.status, 405, path)
            self.assertIn(wanted, response.headers["allow"].replace(" ", "").split(","))

    def test_413_for_a_body_over_the_limit(self):
        start = b"POST /echo HTTP/1.1\r\nContent-Length: 1000000000000\r\n" + HOST
        response, connection = self.answer(start)
        self.assertEqual(response.status, 413)
        self.assertTrue(connection.at_end())

    def test_413_for_a_chunk_over_the_limit(self):
        start = b"POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" + HOST
        response, _ = self.answer(start + b"fffffffffff\r\n")
        self.assertEqual(response.status, 413)

    def test_431_for_headers_over_the_limit(self):
        response, _ = self.answer(b"GET /status HTTP/1.1\r\nLong: " + b"x" * 200_000)
        self.assertEqual(response.status, 431)

    def test_goes_on_serving_others_after_each(self):
        connection = self.connect()
        connection.send(b"GET /status HTTP/1.1\r\nHo")
        self.answer(b"NONSENSE\r\n\r\n")
        self.connect().close()
        self.connect().send(b"POST /echo HTTP/1.1\r\nContent-Length: 5\r\n" + HOST + b"ab")
        connection.send(b"st: test\r\n\r\n")
        self.assertEqual(connection.read().body, b"hello world")


class Usage(unittest.TestCase):
    """What hello says when it is called wrongly."""

    def run_hello(self, *arguments):
        command = [service.program("hello", backends.PROGRAMS), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=100)

    def test_names_the_argument_that_is_wrong(self):
        for arguments, word in [
            (["--port", "banana"], "port"),
            (["--port", "70000"], "port"),
            (["--backend", "nope"], "nope"),
            (["--workers", "-1"], "workers"),
            (["--nonsense"], "nonsense"),
        ]:
            with self.subTest(arguments):
                done = self.run_hello(*arguments)
                self.assertNotEqual(done.returncode, 0)
                self.assertGreater(done.returncode, 0, "ended by a signal")
                self.assertIn(word, done.stdout + done.stderr)

    def test_says_that_a_port_is_taken(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            done = self.run_hello("--port", str(port), "--backend", "epoll")
        self.assertGreater(done.returncode, 0)
        self.assertRegex(done.stdout + done.stderr, "in use|EADDRINUSE")

    def test_explains_itself(self):
        done = self.run_hello("--help")
        self.assertEqual(done.returncode, 0)
        for flag in ("--port", "--workers", "--backend", "--pin", "--slow-us"):
            self.assertIn(flag, done.stdout)

    def test_waits_as_long_as_told(self):
        with backends.hello("epoll", "--slow-us", "40000") as server:
            start = time.monotonic()
            with wire.Connection(server.address, server.port) as connection:
                self.assertEqual(connection.get("/long_req/").status, 200)
            self.assertGreaterEqual(time.monotonic() - start, 0.040)


if __name__ == "__main__":
    unittest.main()
