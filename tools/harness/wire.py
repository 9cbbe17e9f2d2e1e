"""An HTTP/1.1 client that works on the wire: it sends any bytes and reads answers one by one."""

import collections
import socket

Response = collections.namedtuple("Response", "status headers body")


class Dropped(Exception):
    """The connection ended before the whole response came; the text says how far it was."""


class Connection:
    """One connection. Reads are buffered, so answers to pipelined requests come out in order."""

    def __init__(self, address, port, timeout=60):
        self.socket = socket.create_connection((address, port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends the connection."""
        self.file.close()
        self.socket.close()

    def send(self, data):
        """Sends bytes as they are."""
        self.socket.sendall(data)

    def get(self, path, method="GET"):
        """One request and its response."""
        self.send(f"{method} {path} HTTP/1.1\r\nHost: test\r\n\r\n".encode())
        return self.read(method)

    def at_end(self):
        """Whether the server has closed; waits for it, or for a byte too many."""
        try:
            return self.file.read(1) == b""
        except ConnectionResetError:
            return True

    def read(self, method="GET"):
        """The next response; header names in lower case."""
        try:
            return self._read(method)
        except (ConnectionResetError, BrokenPipeError) as error:
            raise Dropped(str(error)) from None

    def _line(self, what):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise Dropped(f"end of stream in the {what}, after {line!r}")
        return line[:-2].decode("latin-1")

    def _exactly(self, count):
        body = self.file.read(count)
        if len(body) != count:
            raise Dropped(f"end of stream after {len(body)} of {count} bytes of body")
        return body

    def _read(self, method):
        status = 100
        while status == 100:
            status = int(self._line("status line").split(" ")[1])
            headers = {}
            while line := self._line("headers"):
                name, _, value = line.partition(":")
                headers[name.lower()] = value.strip()
        if method == "HEAD" or status in (204, 304):
            return Response(status, headers, b"")
        if headers.get("transfer-encoding") == "chunked":
            body = b""
            while size := int(self._line("chunk size"), 16):
                body += self._exactly(size)
                self._line("chunk end")
            self._line("trailer")
            return Response(status, headers, body)
        return Response(status, headers, self._exactly(int(headers["content-length"])))
