"""Starts the programs under test and tells what they cost. For the demo, benchmarks and tests."""

import ctypes
import errno
import os
import pathlib
import platform
import re
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
START_SECONDS_MAX = 120  # A sanitized program on a busy machine takes long.


class ServiceError(Exception):
    """A program did not do what it must; the text says which, what and what it said."""


def program(name, folder=None):
    """The path of one of our programs, in build/release/bin unless told otherwise."""
    path = pathlib.Path(folder or ROOT / "build/release/bin") / name
    if not path.exists():
        raise ServiceError(f"{path} is not there: run `make build`")
    return str(path)


def uring_refusal():
    """Why this kernel cannot run the io_uring backend, or None where it can."""
    release = platform.release()
    version = tuple(int(part) for part in re.findall(r"\d+", release)[:2])
    if version < (6, 0):
        return f"Linux {release} is older than 6.0"
    libc = ctypes.CDLL(None, use_errno=True)
    io_uring_setup = 425  # The same number on every architecture.
    descriptor = libc.syscall(io_uring_setup, 4, ctypes.create_string_buffer(120))
    if descriptor < 0:
        code = ctypes.get_errno()
        return f"io_uring_setup: {os.strerror(code)} ({errno.errorcode.get(code, code)})"
    os.close(descriptor)
    return None


def cpus():
    """The CPUs to pin (server, client) to, or (None, None) where there is only one."""
    usable = sorted(os.sched_getaffinity(0))
    return (usable[0], usable[1]) if len(usable) > 1 else (None, None)


def pinned(cpu):
    """A preexec_fn that keeps a child on one CPU."""
    return None if cpu is None else lambda: os.sched_setaffinity(0, {cpu})


class Cpu:
    """CPU time of a process since it began, in seconds."""

    def __init__(self, pid):
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        tick = os.sysconf("SC_CLK_TCK")
        self.user, self.system = int(fields[11]) / tick, int(fields[12]) / tick
        self.total = self.user + self.system
        try:  # Nanoseconds of the threads that still run; ticks are 10 ms, rounded down.
            tasks = pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")
            running = sum(int(task.read_text().split()[0]) for task in tasks) / 1e9
            self.total = max(self.total, running)
        except (OSError, ValueError, IndexError):
            pass


class Service:
    """A running server: starts on construction, stops at the end of a `with`."""

    def __init__(self, command, cpu=None, ready=r"listening on (\S+):(\d+)"):
        self.command = [str(word) for word in command]
        self.output = tempfile.NamedTemporaryFile("w+", prefix="sennit-", suffix=".log")
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.DEVNULL,
            stdout=self.output,
            stderr=subprocess.STDOUT,
            preexec_fn=pinned(cpu),
        )
        self.pid = self.process.pid
        self.address, self.port = None, None
        try:
            self._wait_until_ready(ready)
        except BaseException:
            self.stop(signal.SIGKILL)
            raise

    def _wait_until_ready(self, ready):
        deadline = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < deadline:
            status = self.process.poll()
            found = re.search(ready, self.said())
            if found:
                self.address, self.port = found[1], int(found[2])
                return
            if status is not None:
                raise ServiceError(f"{self} ended with status {status}:\n{self.said()}")
            time.sleep(0.01)
        raise ServiceError(f"{self} not ready after {START_SECONDS_MAX} s:\n{self.said()}")

    def __str__(self):
        return " ".join([os.path.basename(self.command[0]), *self.command[1:]])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def said(self):
        """What it has written so far."""
        with open(self.output.name, errors="replace") as output:
            return output.read()

    def cpu(self):
        """Its CPU time until now."""
        return Cpu(self.pid)

    def resident_bytes(self):
        """The memory that it occupies."""
        pages = int(pathlib.Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGESIZE")

    def stop(self, how=signal.SIGTERM, seconds_max=60):
        """Ends it; returns its exit status. Killing one that will not end is an error."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            return self.process.wait(seconds_max)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise ServiceError(f"{self} still ran {seconds_max} s after {how.name}") from None


def hello(backend, *arguments, folder=None, cpu=None, workers=1):
    """Starts the demo service on a free port."""
    command = [program("hello", folder), "--port", 0, "--workers", workers, "--backend", backend]
    return Service([*command, *arguments], cpu=cpu)
