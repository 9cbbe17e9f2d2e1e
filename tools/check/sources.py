"""What every check looks at: the project's files, and C++ text without comments and strings."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]

CODE_FOLDERS = ("sennit", "tools", "examples", "tests", "benchmarks")
CPP_SUFFIXES = (".hpp", ".cpp")

_STRIPPED = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^(\n]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*'",
    re.DOTALL,
)


def files(root, suffixes, folders=CODE_FOLDERS):
    """The files below `folders` with one of these suffixes, sorted."""
    for folder in folders:
        if (root / folder).is_dir():
            for path in sorted((root / folder).rglob("*")):
                if path.suffix in suffixes and path.is_file():
                    yield path


def is_test(path):
    """Whether a file, named from the root, belongs to the tests, where more is allowed."""
    if re.search(r"_(test|perf|fuzz)\.cpp$", path.name):
        return True
    return "tests" in path.parts or "testing" in path.parts


def is_public_header(root, path):
    """A header of a module that users may include."""
    parts = path.relative_to(root).parts
    return path.suffix == ".hpp" and parts[0] == "sennit" and "detail" not in parts


def code_only(text):
    """The text with comments, strings and character literals blanked out, lines kept.

    The quotes of a string stay, so that an #include keeps its shape.
    """

    def blank(match):
        found = match.group(0)
        quote = found[0] if found[0] in "\"'" else ""
        if found.startswith("R"):
            quote = '"'
        if quote:
            return quote + "\n" * found.count("\n") + quote
        return " " + "\n" * found.count("\n")

    return _STRIPPED.sub(blank, text)


def line_of(text, offset):
    """The number, from 1, of the line that holds an offset."""
    return text.count("\n", 0, offset) + 1
