#!/usr/bin/env python3
"""What `sennit shm` prints and returns: shm_command_test.py SENNIT."""

import os
import struct
import subprocess
import sys
import tempfile
import unittest

SENNIT = sys.argv[1] if len(sys.argv) > 1 else "sennit"


def run(*arguments):
    """Exit status, standard output, standard error."""
    done = subprocess.run([SENNIT, "shm", *arguments], capture_output=True, text=True, timeout=60,
                          check=False)
    return done.returncode, done.stdout, done.stderr


class ShmCommandTest(unittest.TestCase):
    """Segments themselves are tested beside their code; here it is about the command."""

    def test_wrong_usage_is_told(self):
        for arguments in ((), ("show",), ("nothing",), ("show", "tape:x"), ("get", "posix:/x"),
                          ("get", "posix:/x", "y")):
            status, _, errors = run(*arguments)
            self.assertEqual(status, 2, arguments)
            self.assertNotEqual(errors, "", arguments)

    def test_every_action_has_help(self):
        for action in ("ls", "show", "get", "dump", "verify", "rm", "top"):
            self.assertEqual(run(action, "--help")[0], 0)

    def test_what_is_not_there_is_not_found(self):
        for arguments in (("show",), ("dump",), ("verify",), ("rm",), ("top",)):
            status, _, errors = run(*arguments, "posix:/sennit-there-is-no-such-thing")
            self.assertEqual(status, 1)
            self.assertIn("not found", errors)

    def test_what_is_no_segment_is_refused_and_not_listed(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"x" * 10000)
            file.flush()
            for action in ("show", "dump", "verify", "top"):
                status, _, errors = run(action, "file:" + file.name)
                self.assertEqual(status, 1)
                self.assertIn("not a sennit segment", errors)
            status, output, _ = run("ls")
            self.assertEqual(status, 0)
            self.assertNotIn(os.path.basename(file.name), output)

    def test_a_cut_off_file_is_refused(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"SENNITSH" + struct.pack("<II", 1, 0x01020304))
            file.flush()
            self.assertEqual(run("verify", "file:" + file.name)[0], 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
