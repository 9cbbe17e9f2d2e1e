"""What the integration tests share: the same tests on every backend, against a built `hello`."""

import os
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/harness"))
import service  # noqa: E402

# Where the programs are; the build's own test passes the folder that it built.
PROGRAMS = os.environ.get("SENNIT_PROGRAMS", str(ROOT / "build/release/bin"))


def hello(backend, *arguments, workers=1):
    """Starts hello on a backend."""
    return service.hello(backend, *arguments, folder=PROGRAMS, workers=workers)


def on_each_backend(test_class):
    """Makes Test_epoll and Test_uring of a class that reads self.backend.

    Where the kernel refuses io_uring its tests are skipped, by name and with the reason, unless
    SENNIT_REQUIRE_URING=1 says that this kernel must allow it.
    """
    module = sys.modules[test_class.__module__]
    for backend in ("epoll", "uring"):
        made = type(f"{test_class.__name__}_{backend}", (test_class, unittest.TestCase), {})
        made.backend, made.__module__ = backend, test_class.__module__
        refusal = service.uring_refusal() if backend == "uring" else None
        if refusal and os.environ.get("SENNIT_REQUIRE_URING") != "1":
            made = unittest.skip(f"uring refused by this kernel: {refusal}")(made)
        setattr(module, made.__name__, made)
    return test_class
