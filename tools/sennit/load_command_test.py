#!/usr/bin/env python3
"""Tests `sennit load` as its users meet it: arguments, exit status, output, files and signals.

    load_command_test.py PROGRAM
"""

import contextlib
import http.server
import json
import os
import pathlib
import pty
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PROGRAM = "build/release/bin/sennit"
TIMEOUT = 120


class Handler(http.server.BaseHTTPRequestHandler):
    """Says hello; /fail says that it cannot."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # One segment for head and body.

    def do_GET(self):
        self.server.headers_seen.append(dict(self.headers))
        self.send_response(500 if self.path == "/fail" else 200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *_):
        """Nothing: the test's output is for its own findings."""


class Server(http.server.ThreadingHTTPServer):
    """Takes it calmly when a run ends and its connections with it."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.headers_seen = []

    def handle_error(self, *_):
        """Nothing: a connection that ended is no error."""


@contextlib.contextmanager
def serving():
    """A server on a port of its own; gives (server, its URL without a path)."""
    server = Server()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server, f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def refusing_url():
    """Where nobody listens."""
    with socket.socket() as closed_soon:
        closed_soon.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{closed_soon.getsockname()[1]}/"


def run(*arguments):
    """Runs the program to its end."""
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=TIMEOUT)


def load(*arguments):
    """Runs `sennit load`, for a short time unless told otherwise."""
    return run("load", "-d", "200ms", "-c", "2", "-t", "1", *arguments)


class Usage(unittest.TestCase):
    def test_help_and_version_are_no_errors(self):
        for arguments, said in (
            (["--help"], "load"),
            (["load", "--help"], "--connections"),
            (["version"], "sennit "),
        ):
            with self.subTest(arguments):
                done = run(*arguments)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn(said, done.stdout)

    def test_mistakes_are_named_and_end_with_2(self):
        url = "http://127.0.0.1/"
        for arguments, said in (
            ([], "subcommand is required"),
            (["lod", url], "no subcommand 'lod'"),
            (["load"], "URL is required"),
            (["load", "https://127.0.0.1/"], "TLS is not built in"),
            (["load", "127.0.0.1"], "has to begin with http://"),
            (["load", url, "-c", "many"], "'many'"),
            (["load", url, "-c"], "--connections"),
            (["load", url, "-d", "5y"], "'5y'"),
            (["load", url, "--timeout", "0"], "'0'"),
            (["load", url, "-c", "2", "-t", "3"], "2 connections with 3 threads"),
            (["load", url, "-H", "no colon"], "-H 'Name: value'"),
            (["load", url, "-H", ""], "-H 'Name: value'"),
            (["load", url, "-H", "bad name: x"], "'bad name: x'"),
            (["load", url, "-H", "Content-Length: 1"], "follows from the body"),
            (["load", url, "--method", "G T"], "method"),
            (["load", url, "--backend", "magic"], "'magic'"),
            (["load", url, "--bogus"], "--bogus"),
            (["load", url, url], "not expected"),
        ):
            with self.subTest(arguments):
                done = run(*arguments)
                self.assertEqual(done.returncode, 2, done)
                self.assertIn(said, done.stderr)
                self.assertEqual(done.stdout, "")


class Load(unittest.TestCase):
    def test_prints_figures_and_ends_with_0(self):
        with serving() as (_, url):
            done = load(url)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stderr, "")
        for pattern in (
            rf"Running 200.00ms test @ {url}\n  1 threads and 2 connections\n",
            r"  Thread Stats   Avg      Stdev     Max   \+/- Stdev\n",
            r"    Latency  ",
            r"    Req/Sec  ",
            r"     50% .*\n     75% .*\n     90% .*\n     99% .*\n   99.9% .*\n     max ",
            r"  \d+ requests in \S+, \S+B read\n",
            r"Requests/sec: +[\d.]+\nTransfer/sec: ",
        ):
            self.assertRegex(done.stdout, pattern)

    def test_options_may_come_first_and_headers_be_many(self):
        with serving() as (server, url):
            done = load("-H", "X-One: 1", "-H", "Host: other", "--latency", f"{url}/x")
            self.assertEqual(done.returncode, 0, done)
            seen = server.headers_seen[0]
        self.assertEqual((seen["X-One"], seen["Host"]), ("1", "other"))

    def test_writes_what_it_measured_as_json(self):
        with serving() as (_, url), tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "load.json")
            done = load(url, "--json", str(path), "--backend", "epoll")
            self.assertEqual(done.returncode, 0, done)
            found = json.loads(path.read_text())
        self.assertEqual((found["url"], found["backend"]), (url, "epoll"))
        self.assertEqual((found["connections"], found["threads"]), (2, 1))
        self.assertIn(f"  {found['requests']} requests in ", done.stdout)
        self.assertAlmostEqual(
            found["requests_per_s"], found["requests"] / found["duration_s"], delta=0.01
        )
        self.assertGreater(found["bytes_read"], 0)
        self.assertLessEqual(found["latency_us"]["p50"], found["latency_us"]["p99.9"])
        self.assertEqual(set(found["errors"].values()), {0})

    def test_errors_end_with_1(self):
        with serving() as (_, url):
            failed = load(f"{url}/fail")
        self.assertEqual(failed.returncode, 1, failed)
        self.assertRegex(failed.stdout, r"Non-2xx or 3xx responses: \d+\n")
        refused = load(refusing_url())
        self.assertEqual(refused.returncode, 1, refused)
        self.assertRegex(refused.stdout, r"Socket errors: connect \d+, read 0, write 0, timeout 0")
        self.assertIn("connection refused", refused.stderr)
        self.assertIn("nothing was answered", refused.stderr)

    def test_a_report_that_cannot_be_written_ends_with_1(self):
        with serving() as (_, url):
            nowhere = load(url, "--json", "/no/such/folder/load.json")
            self.assertEqual(nowhere.stdout, "", "it should say so before it runs")
            full = load(url, "--json", "/dev/full")
        self.assertEqual((nowhere.returncode, full.returncode), (1, 1))
        self.assertIn("/no/such/folder/load.json", nowhere.stderr)
        self.assertIn("No space left", full.stderr)
        self.assertIn("Requests/sec", full.stdout)

    def test_an_interrupt_ends_it_early_with_what_was_measured(self):
        for interrupt in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(interrupt), serving() as (_, url):
                running = subprocess.Popen(
                    [PROGRAM, "load", url, "-d", "1h"], stdout=subprocess.PIPE, text=True
                )
                running.stdout.readline()  # Printed when it has begun.
                time.sleep(1)
                running.send_signal(interrupt)
                said, _ = running.communicate(timeout=TIMEOUT)
                self.assertEqual(running.returncode, 0, said)
                self.assertRegex(said, r"\n  [1-9]\d* requests in ")

    def test_a_terminal_sees_one_line_of_progress(self):
        try:
            ours, its = pty.openpty()
        except OSError as refusal:  # A bare chroot has none.
            self.skipTest(f"no terminal can be made here: {refusal}")
        with serving() as (_, url):
            done = subprocess.run(
                [PROGRAM, "load", url, "-d", "4s"],
                stdout=subprocess.DEVNULL,
                stderr=its,
                timeout=TIMEOUT,
            )
        os.close(its)
        shown = os.read(ours, 65536).decode()
        os.close(ours)
        self.assertEqual(done.returncode, 0, shown)
        progress = r"\r  [123] s left, \d+ requests/s, 0 errors\x1b\[K"
        self.assertTrue(re.search(progress, shown), shown)
        self.assertTrue(shown.endswith("\r\x1b[K"), shown)
        self.assertNotIn("\n", shown)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        PROGRAM = sys.argv.pop(1)
    unittest.main()
