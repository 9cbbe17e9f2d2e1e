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
    short = [] if "-d" in arguments else ["-d", "200ms"]
    return run("load", *short, "-c", "2", "-t", "1", *arguments)


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
            (["load"], "URL is missing"),
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
            (["load", url, "-R", "fast"], "'fast'"),
            (["load", url, "--profile", "1000"], "RATE:TIME"),
            (["load", url, "-R", "1k", "--profile", "1k:1s"], "excludes"),
            (["load", url, "--pipeline", "5000"], "pipeline 5000"),
            (["load", url, "--fail-if", "p99"], "p99<10ms"),
            (["load", url, "--slo", "p99=3"], "p99<10ms"),
            (["load", url, "--sweep", "size=1,2"], "{size}"),
            (["load", url, "--sweep", "connections"], "connections=1..2048x2"),
            (["load", url, "--slo", "p99<1ms", "--sweep", "rate=1,2"], "search and sweep"),
            (["load", "compare"], "FILES is required"),
        ):
            with self.subTest(arguments):
                done = run(*arguments)
                self.assertEqual(done.returncode, 2, done)
                self.assertIn(said, done.stderr)
                self.assertEqual(done.stdout, "")


class Load(unittest.TestCase):
    def test_prints_figures_and_ends_with_0(self):
        with serving() as (_, url):
            done = load(url, "--latency")
            short = load(url)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stderr, "")
        self.assertNotIn("Distribution", short.stdout)
        for pattern in (
            rf"Running 200.00ms test @ {url}\n  1 threads and 2 connections\n",
            r"  Thread Stats   Avg      Stdev     Max   \+/- Stdev\n",
            r"    Latency  ",
            r"    Req/Sec  ",
            r"  Latency Distribution\n     50% .*\n     75% .*\n     90% .*\n     99% .*\n  \d",
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

    def test_an_open_loop_shows_both_times_and_writes_every_kind_of_report(self):
        with serving() as (_, url), tempfile.TemporaryDirectory() as folder:
            paths = {k: pathlib.Path(folder, f"load.{k}") for k in ("json", "html", "hgrm")}
            files = [word for kind, path in paths.items() for word in (f"--{kind}", str(path))]
            pace = ("-R", "100", "-d", "1s", "--warm-up", "200ms", "--lag-max", "1m")
            done = load(url, *pace, *files)
            self.assertEqual(done.returncode, 0, done)
            self.assertRegex(done.stdout, r"Open loop: 100 requests/s asked for, \d+ answered")
            self.assertRegex(done.stdout, r" +response time +service time +schedule lag\n")
            found = json.loads(paths["json"].read_text())
            self.assertEqual(round(found["rate"]), 100)
            self.assertGreaterEqual(found["response_us"]["p50"], found["latency_us"]["p50"])
            self.assertIn("Latency by percentile", paths["html"].read_text())
            self.assertIn("1/(1-Percentile)", paths["hgrm"].read_text())

    def test_a_late_generator_makes_the_run_void(self):
        with serving() as (_, url):
            done = load(url, "-R", "100", "-d", "500ms", "--lag-max", "1us")
        self.assertEqual(done.returncode, 3, done)
        self.assertIn("VOID: the generator was late", done.stdout)

    def test_conditions_decide_the_exit_status(self):
        with serving() as (_, url):
            passed = load(url, "--fail-if", "p99>1h", "--fail-if", "errors>0")
            failed = load(url, "--fail-if", "p50>1us")
        self.assertEqual(passed.returncode, 0, passed)
        self.assertEqual(failed.returncode, 1, failed)
        self.assertRegex(failed.stderr, r"because p50>1us \([\d.]+[um]?s\)")

    def test_reports_can_be_compared_and_merged(self):
        with serving() as (_, url), tempfile.TemporaryDirectory() as folder:
            paths = [str(pathlib.Path(folder, f"{name}.json")) for name in ("one", "two")]
            for path in paths:
                self.assertEqual(load(url, "--json", path).returncode, 0)
            page, whole = pathlib.Path(folder, "c.html"), pathlib.Path(folder, "whole.json")
            compared = run("load", "compare", *paths, "--html", str(page))
            self.assertEqual(compared.returncode, 0, compared)
            self.assertRegex(compared.stdout, r"\none +\d+ .*\ntwo +\d+ +[+-]\d")
            self.assertIn("2 runs compared", page.read_text())
            merged = run("load", "merge", *paths, "--json", str(whole))
            self.assertEqual(merged.returncode, 0, merged)
            counts = [json.loads(pathlib.Path(path).read_text())["requests"] for path in paths]
            self.assertEqual(json.loads(whole.read_text())["requests"], sum(counts))
            whole.write_text('{"url": 1}')
            refused = run("load", "compare", str(whole))
            self.assertEqual(refused.returncode, 1)
            self.assertIn("whole.json", refused.stderr)

    def test_sweeps_over_every_combination(self):
        with serving() as (_, url), tempfile.TemporaryDirectory() as folder:
            data, page = pathlib.Path(folder, "s.json"), pathlib.Path(folder, "s.html")
            axes = ("connections=1,2", "n=3,4,5")
            done = run(
                "load", url + "/{n}", "-d", "100ms", "--json", str(data), "--html", str(page),
                "--sweep", *axes,
            )
            self.assertEqual(done.returncode, 0, done)
            self.assertRegex(done.stdout, r"   6 of 6: connections=2 n=5: [\d.]+ requests/s")
            self.assertEqual([run["connections"] for run in json.loads(data.read_text())],
                             [1, 1, 1, 2, 2, 2])
            self.assertIn('class="cell"', page.read_text())

    def test_searches_the_highest_rate_that_holds(self):
        with serving() as (_, url):
            none = load(url, "--slo", "p50<1us", "-R", "4", "-d", "300ms", "--lag-max", "1m")
        self.assertEqual(none.returncode, 1, none)
        self.assertIn("p50<1us held at no rate", none.stdout)

    def test_a_mix_and_a_stream_beside(self):
        with serving() as (server, url), tempfile.TemporaryDirectory() as folder:
            mix = pathlib.Path(folder, "mix.json")
            mix.write_text('[{"path": "/a/{seq}", "headers": {"X-N": "{1..1}"}}]')
            done = load(url, "--mix", str(mix), "--beside", f"{url}/slow", "--beside-rate", "20",
                        "--beside-connections", "1")
            self.assertEqual(done.returncode, 0, done)
            self.assertIn(f"Beside it: {url}/slow with 1 connections", done.stdout)
            self.assertIn("1", {seen.get("X-N") for seen in server.headers_seen})
            mix.write_text("[{}, 3]")
            refused = load(url, "--mix", str(mix))
            self.assertEqual(refused.returncode, 2, refused)
            self.assertIn("entry 2 of the mix", refused.stderr)
            self.assertEqual(load(url, "--mix", "/no/such").returncode, 2)

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
        progress = r"\r  [123] s left, \d+ requests/s, 0 errors, 50% .*, 99% .*, max .*\x1b\[K"
        self.assertTrue(re.search(progress, shown), shown)
        self.assertTrue(shown.endswith("\r\x1b[K"), shown)
        self.assertNotIn("\n", shown)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        PROGRAM = sys.argv.pop(1)
    unittest.main()
