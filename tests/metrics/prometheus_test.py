"""A real Prometheus scrapes our metrics, in both formats, and must take and understand all of them.

Skipped, with exit status 77, where no `prometheus` is installed (Debian's package of that name).
"""

import ctypes
import datetime
import http.server
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

SAMPLE = pathlib.Path(os.environ["SENNIT_PROGRAMS"]) / "metrics_sample"
SECONDS_MAX = 120

CONFIG = """
global: {{scrape_interval: 2s, scrape_timeout: 2s}}
scrape_configs:
  - job_name: negotiated
    static_configs: [{{targets: ["{target}"]}}]
  - job_name: plain
    metrics_path: /plain
    static_configs: [{{targets: ["{target}"]}}]
"""


def sample(accept):
    """The content type and the text that a scraper with this Accept header gets."""
    done = subprocess.run(
        [SAMPLE, accept], stdout=subprocess.PIPE, check=True, timeout=SECONDS_MAX
    )
    content_type, text = done.stdout.split(b"\n\n", 1)
    return content_type.decode(), text


class Target(http.server.BaseHTTPRequestHandler):
    """Serves what was made for each format: making it takes longer than a slow scrape may."""

    texts = {}
    accepts = {}

    def do_GET(self):  # noqa: N802
        accept = "text/plain" if self.path == "/plain" else self.headers.get("Accept", "")
        self.accepts[self.path] = accept
        kind = "openmetrics" if "application/openmetrics-text" in accept else "plain"
        content_type, text = self.texts[kind]
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def end_with_parent():
    """In a child: the kernel kills it when this test ends, however it ends."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


class Prometheus:
    """A Prometheus of our own, in a folder of its own, on a port that the kernel chose."""

    def __init__(self, folder, target):
        config = folder / "prometheus.yml"
        config.write_text(CONFIG.format(target=target))
        self.process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={config}",
                f"--storage.tsdb.path={folder}/data",
                "--web.listen-address=127.0.0.1:0",
                "--log.level=info",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=end_with_parent,
        )
        self.log = []
        self.listening = threading.Event()
        self.address = None
        threading.Thread(target=self._read_log, daemon=True).start()
        if not self.listening.wait(SECONDS_MAX) or self.address is None:
            self.end()
            raise AssertionError("Prometheus does not listen:\n" + "".join(self.log))

    def _read_log(self):
        for line in self.process.stderr:
            self.log.append(line)
            if '"Listening on" address=' in line and self.address is None:
                self.address = line.split("address=")[1].split()[0]
                self.listening.set()
        self.listening.set()  # It has ended.

    def ask(self, path, **parameters):
        """The data of an answer of its API."""
        url = f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=SECONDS_MAX) as answer:
            return json.load(answer)["data"]

    def query(self, expression, at):
        """The series of an expression, as they were at a time in seconds since 1970."""
        return self.ask("query", query=expression, time=at)["result"]

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()


class PrometheusTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        Target.texts = {
            "plain": sample("text/plain"),
            "openmetrics": sample("application/openmetrics-text"),
        }
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Target)
        cls.addClassCleanup(cls.server.server_close)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.addClassCleanup(cls.server.shutdown)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        target = f"127.0.0.1:{cls.server.server_address[1]}"
        cls.prometheus = Prometheus(pathlib.Path(folder.name), target)
        cls.addClassCleanup(cls.prometheus.end)
        cls.wait_for_scrapes()

    @classmethod
    def wait_for_scrapes(cls):
        """Until both targets were scraped with success: on a slow machine one may fail at first."""
        deadline = time.monotonic() + SECONDS_MAX
        cls.targets = []
        while time.monotonic() < deadline and cls.prometheus.process.poll() is None:
            try:
                cls.targets = cls.prometheus.ask("targets")["activeTargets"]
            except urllib.error.HTTPError as error:
                if error.code != 503:  # It listens, and is not ready yet.
                    raise
            if len(cls.targets) == 2 and all(t["health"] == "up" for t in cls.targets):
                # What is asked for is asked as of then, as a later scrape may fail.
                cls.times = {t["scrapePool"]: cls.seconds(t["lastScrape"]) for t in cls.targets}
                return
            time.sleep(0.1)
        errors = [(t["scrapeUrl"], t["lastError"]) for t in cls.targets]
        raise AssertionError(f"never scraped: {errors}\n" + "".join(cls.prometheus.log))

    @staticmethod
    def seconds(instant):
        """Since 1970, of a time as Prometheus writes it, a little later than its samples'."""
        return datetime.datetime.fromisoformat(instant).timestamp() + 0.05

    def number(self, expression, job):
        query = expression.replace("JOB", f'job="{job}"')
        found = self.prometheus.query(query, self.times[job])
        self.assertEqual(len(found), 1, f"{query}: {found}")
        return float(found[0]["value"][1])

    def expect(self, wanted, expression):
        for job in ("plain", "negotiated"):
            with self.subTest(job=job, expression=expression):
                self.assertEqual(self.number(expression, job), wanted)

    def test_takes_both_formats_whole(self):
        for target in self.targets:
            self.assertEqual(target["lastError"], "", target["scrapeUrl"])
            self.assertEqual(target["health"], "up")
        # Otherwise both jobs were shown the same.
        self.assertIn("application/openmetrics-text", Target.accepts["/metrics"])
        self.assertIn("# EOF", Target.texts["openmetrics"][1].decode())

    def test_reads_label_values_back_as_they_were(self):
        self.expect(3, r'sample_requests_total{JOB, path="/a\"b\\c\nd"}')
        self.expect(4, 'sample_requests_total{JOB, path="na\u00efve"}')
        self.expect(5, r'sample_requests_total{JOB, path="\ufffd\ufffd"}')
        self.expect(6, 'sample_requests_total{JOB, path=""}')

    def test_gets_what_exceeds_a_family_in_one_series(self):
        self.expect(96, 'sample_requests_total{JOB, path="other"}')
        self.expect(9, "count(sample_requests_total{JOB})")
        self.expect(
            96, 'sennit_metrics_label_overflow_total{JOB, family="sample_requests_total"}'
        )

    def test_reads_numbers_of_every_kind(self):
        self.expect(-2.5, "sample_level{JOB}")
        self.expect(float("inf"), "sample_infinite{JOB}")
        for job in ("plain", "negotiated"):
            self.assertNotEqual(*[self.number("sample_nan{JOB}", job)] * 2)  # As no other is.

    def test_computes_quantiles_of_histograms(self):
        self.expect(100, "sample_taken_seconds_count{JOB}")
        self.expect(0, 'sample_taken_seconds_bucket{JOB, le=~"0.001|0.0010"}')
        self.expect(100, 'sample_taken_seconds_bucket{JOB, le="0.0025"}')
        self.expect(100, 'sample_taken_seconds_bucket{JOB, le="+Inf"}')
        for job in ("plain", "negotiated"):
            self.assertAlmostEqual(self.number("sample_taken_seconds_sum{JOB}", job), 0.15)
            median = self.number("histogram_quantile(0.5, sample_taken_seconds_bucket{JOB})", job)
            self.assertGreater(median, 0.001)
            self.assertLess(median, 0.0025)

    def test_has_the_golden_signals(self):
        self.expect(8, 'sample_server_requests_total{JOB, route="/users/{id}"}')
        self.expect(2, 'sample_server_errors_total{JOB, class="server_error"}')
        self.expect(5, 'sample_server_request_seconds_count{JOB, result="ok"}')
        self.expect(2, 'sample_server_request_seconds_count{JOB, result="error"}')
        self.expect(1, "sample_server_in_flight{JOB}")
        self.expect(1000, "sample_server_in_flight_limit{JOB}")

    def test_has_the_process_and_its_workers(self):
        for job in ("plain", "negotiated"):
            for name in ("process_resident_memory_bytes", "process_start_time_seconds"):
                self.assertGreater(self.number(name + "{JOB}", job), 0, name)
            for name in ("turns_total", "jobs_total", "loop_lag_seconds_count"):
                series = "sennit_worker_" + name + '{JOB, worker="0"}'
                self.assertGreater(self.number(series, job), 0, series)

    def test_knows_the_kind_of_each_family(self):
        known = self.prometheus.ask("metadata")
        for name, kind in [
            ("sample_requests_total", "counter"),
            ("sample_level", "gauge"),
            ("sample_taken_seconds", "histogram"),
            ("process_open_fds", "gauge"),
            ("sennit_worker_loop_lag_seconds", "histogram"),
        ]:
            # OpenMetrics names a counter's family without the suffix of its samples.
            found = known.get(name, []) + known.get(name.removesuffix("_total"), [])
            self.assertEqual({entry["type"] for entry in found}, {kind}, name)


if __name__ == "__main__":
    if shutil.which("prometheus") is None:
        print("SKIPPED: no prometheus here, so our metrics were shown to none", flush=True)
        sys.exit(77)
    unittest.main(verbosity=2)
