#!/usr/bin/env python3
"""Each example of the HTTP server starts, does what it is there to show, and stops."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request

PROGRAMS = pathlib.Path(os.environ["SENNIT_PROGRAMS"])
PATIENCE_S = 60


class Service:
    """An example on a port of the kernel's choice."""

    def __init__(self, name, **environment):
        self.process = subprocess.Popen(
            [PROGRAMS / name, "--port", "0", "--workers", "1"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **environment},
        )
        line = self.process.stdout.readline()  # Ends when the program does.
        self.base = "http://" + line.rsplit(" ", 1)[-1].strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(PATIENCE_S)
        self.process.stdout.close()

    def ask(self, path, body=None, **fields):
        """Returns status, header fields and body."""
        fields = {name.replace("_", "-"): value for name, value in fields.items()}
        request = urllib.request.Request(self.base + path, data=body, headers=fields)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as answer:
            with answer:
                return answer.code, answer.headers, answer.read()


class Examples(unittest.TestCase):
    """One test for each program."""

    def test_files_serves_a_folder_and_nothing_above_it(self):
        with tempfile.TemporaryDirectory() as root:
            pathlib.Path(root, "a.txt").write_text("content of a")
            with Service("files", SENNIT_FILES_ROOT=root) as service:
                self.assertEqual(service.ask("/a.txt")[2], b"content of a")
                self.assertEqual(service.ask("/a.txt", Range="bytes=0-6")[2], b"content")
                self.assertEqual(service.ask("/%2e%2e/etc/passwd")[0], 404)

    def test_json_keeps_notes(self):
        with Service("json") as service:
            note = json.dumps({"id": 7, "text": "remember"}).encode()
            self.assertEqual(service.ask("/notes", note, Content_Type="application/json")[0], 200)
            self.assertEqual(json.loads(service.ask("/notes/7")[2])["text"], "remember")
            self.assertEqual(service.ask("/notes/8")[0], 404)
            self.assertEqual(service.ask("/notes/x")[0], 400)
            self.assertEqual(service.ask("/notes", b"{", Content_Type="application/json")[0], 400)

    def test_middleware_guards_a_group(self):
        with Service("middleware") as service:
            status, fields, body = service.ask("/")
            self.assertEqual((status, body), (200, b"hello\n"))
            self.assertTrue(fields["X-Request-Id"])
            self.assertEqual(service.ask("/inside/treasure")[0], 401)
            self.assertEqual(service.ask("/inside/treasure", X_Key="open sesame")[2], b"gold\n")
            self.assertEqual(service.ask("/ready")[0], 200)
            self.assertIn(b"http_server_requests_total", service.ask("/metrics")[2])


if __name__ == "__main__":
    unittest.main()
