"""The client, as examples/fetch shows it, against servers of others: Python's, and nginx."""

import contextlib
import gzip
import http.server
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import unittest

import backends

LARGE = os.urandom(1 << 20) * 2
TIMEOUT = 100


class Handler(http.server.BaseHTTPRequestHandler):
    """What Python's server makes of paths."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Says nothing."""

    def answer(self, body, status=200, **headers):
        """A whole answer with a length."""
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def chunked(self, body):
        """An answer in chunks, the first with an extension."""
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for start in range(0, len(body), 10_000):
            piece = body[start : start + 10_000]
            extension = b";name=value" if start == 0 else b""
            self.wfile.write(b"%x%s\r\n%s\r\n" % (len(piece), extension, piece))
        self.wfile.write(b"0\r\n\r\n")

    def do_GET(self):
        """All methods without a body."""
        if self.path == "/large":
            self.answer(LARGE)
        elif self.path == "/chunked":
            self.chunked(LARGE)
        elif self.path == "/gzip":
            self.answer(gzip.compress(b"text " * 1000), Content_Encoding="gzip")
        elif self.path == "/old":
            self.protocol_version = "HTTP/1.0"
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"until the end")
            self.close_connection = True
        elif self.path == "/redirect":
            self.answer(b"", 302, Location="/hello")
        elif self.path == "/hello":
            self.answer(f"{self.command} {self.headers['Host']}".encode())
        else:
            self.answer(b"no", 404)

    do_HEAD = do_DELETE = do_GET

    def do_POST(self):
        """Echoes the body."""
        self.answer(self.rfile.read(int(self.headers["Content-Length"])))

    do_PUT = do_POST


@contextlib.contextmanager
def python_server():
    """Its URL."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def nginx_server():
    """Its URL, over a Unix socket: nobody can take a path before it does."""
    with tempfile.TemporaryDirectory(prefix="sennit-nginx-") as folder:
        path = pathlib.Path(folder)
        path.chmod(0o755)
        (path / "large").write_bytes(LARGE)
        (path / "text").write_bytes(b"text " * 1000)
        (path / "nginx.conf").write_text(
            "daemon off; worker_processes 1; pid nginx.pid; error_log stderr;\n"
            "events { worker_connections 64; }\n"
            "http { access_log off; gzip on; gzip_types *; gzip_min_length 1;\n"
            "  server { listen unix:nginx.sock; root .; default_type text/plain;\n"
            "    location /away { return 301 /text; } } }\n".replace("nginx.", f"{path}/nginx.")
            .replace("root .", f"root {path}")
        )
        command = ["nginx", "-p", folder, "-c", str(path / "nginx.conf")]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
            try:
                wait_for_socket(str(path / "nginx.sock"), process)
                yield "http+unix://" + str(path / "nginx.sock").replace("/", "%2F")
            finally:
                process.terminate()
                process.wait(TIMEOUT)


def wait_for_socket(path, process):
    """Until somebody listens there, or the process has ended."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(path)
                return
            except OSError:
                time.sleep(0.01)
    raise RuntimeError(f"nobody listens on {path}; nginx says {process.poll()}")


@backends.on_each_backend
class Fetch:
    """Each test runs on each backend."""

    def fetch(self, *arguments):
        """Status, standard output, standard error."""
        command = [os.path.join(backends.PROGRAMS, "fetch"), "--backend", self.backend]
        done = subprocess.run(
            [*command, "--deadline-ms", "60000", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr.decode()

    def test_python_server(self):
        with python_server() as url:
            host = url.removeprefix("http://").encode()
            self.assertEqual(self.fetch(url + "/large")[:2], (0, LARGE))
            self.assertEqual(self.fetch(url + "/chunked")[:2], (0, LARGE))
            self.assertEqual(self.fetch(url + "/gzip")[:2], (0, b"text " * 1000))
            raw = self.fetch("--raw", url + "/gzip")[1]
            self.assertEqual(gzip.decompress(raw), b"text " * 1000)
            self.assertEqual(self.fetch(url + "/old")[:2], (0, b"until the end"))
            self.assertEqual(self.fetch(url + "/redirect")[:2], (0, b"GET " + host))
            self.assertEqual(self.fetch("-X", "DELETE", url + "/hello")[:2], (0, b"DELETE " + host))
            self.assertEqual(self.fetch("-X", "HEAD", url + "/hello")[:2], (0, b""))
            self.assertEqual(self.fetch("-d", "body", url + "/x")[:2], (0, b"body"))
            self.assertEqual(self.fetch(url + "/absent")[:2], (22, b"no"))

    def test_sends_a_file(self):
        with python_server() as url, tempfile.NamedTemporaryFile() as file:
            file.write(LARGE)
            file.flush()
            self.assertEqual(self.fetch("-X", "PUT", "-d", "@" + file.name, url)[:2], (0, LARGE))

    def test_says_in_which_phase_it_failed(self):
        status, _, said = self.fetch("http://127.0.0.1:1/")
        self.assertEqual((status, said.split(":")[1].strip()), (1, "connect"))
        status, _, said = self.fetch("https://127.0.0.1/")
        self.assertEqual((status, said.split(":")[1].strip()), (1, "prepare"))
        self.assertEqual(self.fetch()[0], 2)

    @unittest.skipUnless(shutil.which("nginx"), "nginx is not installed")
    def test_nginx(self):
        with nginx_server() as url:
            self.assertEqual(self.fetch(url + "/large")[:2], (0, LARGE))
            self.assertEqual(self.fetch(url + "/text")[:2], (0, b"text " * 1000))
            self.assertEqual(self.fetch(url + "/away")[:2], (0, b"text " * 1000))
            self.assertEqual(self.fetch(url + "/absent")[0], 22)


if __name__ == "__main__":
    unittest.main()
