#!/usr/bin/env python3
"""Checks what no compiler warns of: lengths, banned calls, leftovers, comments where they are due.

    tidy.py [--tighten] [ROOT]

Each violation is one line: file:line, what is wrong, what to do instead. STYLE.md has the reasons.
"""

import pathlib
import re
import sys

from ratchet import Ratchet
from sources import CPP_SUFFIXES, ROOT, code_only, files, is_public_header, is_test, line_of

COLUMNS_MAX = 100
FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 400
RATCHET_RULES = ("file_lines", "function_lines", "untested")


def in_library(path):
    """Code that ends up in a user's program."""
    return path.parts[0] == "sennit" and not is_test(path)


def outside(*prefixes):
    """Non-test code that is not below one of these."""
    return lambda path: not is_test(path) and not str(path).startswith(prefixes)


def anywhere(_):
    """Every C++ file."""
    return True


# What is banned, where, and what to use instead.
BANNED = [
    (r"this_thread::sleep_|(?<![\w.>])(?:u|nano)?sleep\s*\(", outside(),
     "blocks a whole worker: wait(sleep_for(...)), or a Clock that the test moves"),
    (r"(?<!\w)s?rand\s*\(|\bstd::(?:mt19937|random_device|default_random_engine)",
     outside("sennit/base/random"), "no seed replays it: sennit::Random, random_seed()"),
    (r"\bstd::w?regex\b|<regex>", anywhere, "slow, and overflows its stack: parse by hand"),
    (r"(?<!\w)v?sprintf\s*\(|(?<!\w)str(?:n?cpy|n?cat)\s*\(|(?<![\w.>])gets\s*\(", anywhere,
     "writes past the end: fmt::format, std::string, std::format_to_n"),
    (r"(?<!\w)ato[ifl]l?\s*\(|(?<!\w)strto[dlu]+l?\s*\(", anywhere,
     "cannot tell an error from a zero: std::from_chars"),
    (r"(?<![\w.>])strerror\s*\(", anywhere, "not thread safe: Error::from_os(...).to_string()"),
    (r"(?<!\w)assert\s*\(|<cassert>|<assert\.h>", anywhere,
     "off in a release: SENNIT_ASSERT(condition, values...)"),
    (r"_clock::now\b|(?<!\w)(?:clock_gettime|gettimeofday)\s*\(",
     outside("sennit/base/time", "sennit/base/random"),
     "a test cannot move it: take a sennit::Clock"),
    (r"\bstd::(?:cout|cerr|clog)\b|(?<!\w)printf\s*\(|(?<!\w)puts\s*\(|<iostream>", in_library,
     "a library does not print: sennit::log, or return the text"),
    (r"\bstd::endl\b", anywhere, r"flushes each time: '\n'"),
    (r"\bthrow\b", in_library, "the library throws nothing: return a Result<T>"),
    (r"\bthread_local\b", outside("sennit/runtime/"),
     "state of a worker is reached through the current worker"),
    (r"\busing namespace (?!std::(?:chrono_literals|literals|string_view_literals);|sennit;)"
     r"(?!(?:\w+::)?detail;)", anywhere,
     "name what is used; only the standard's literals, and a module's own detail, may come whole"),
    (r"\busing namespace sennit;", lambda path: path.parts[0] not in ("examples", "tools"),
     "only a program may do that: open namespace sennit instead"),
]
BANNED = [(re.compile(pattern), applies, advice) for pattern, applies, advice in BANNED]

OS_HEADER = re.compile(
    r"#\s*include\s*<((?:sys|netinet|arpa|net|linux|openssl)/[^>]*|liburing[^>]*|"
    r"(?:unistd|fcntl|poll|pthread|signal|netdb|sched|dirent|errno)\.h)>"
)
LEFTOVER = re.compile(r"\b(FIXME|TODO|XXX|HACK)\b")
WEAK_ORDER = re.compile(r"\bmemory_order(?:_|::)(?:relaxed|consume|acquire|release|acq_rel)\b")
STATEMENT_END = re.compile(r"[;{}]\s*$")


def line_violations(path, text, code):
    """What a single line can do wrong."""
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > COLUMNS_MAX and "https://" not in line:
            yield number, f"{len(line)} columns: at most {COLUMNS_MAX}"
        if LEFTOVER.search(line):
            yield number, f"{LEFTOVER.search(line)[0]}: do it, or write an issue and say why here"
    for number, line in enumerate(code.splitlines(), 1):
        for pattern, applies, advice in BANNED:
            found = pattern.search(line)
            if found and applies(path):
                yield number, f"{found[0].strip()}: {advice}"


def header_violations(root, path, text):
    """What a header must begin with, and what a public one must not include."""
    if path.suffix != ".hpp":
        return
    lines = text.splitlines()
    if not lines or lines[0] != "#pragma once":
        yield 1, "a header begins with #pragma once"
    elif is_public_header(root, root / path):
        if len(lines) < 2 or not lines[1].startswith("// "):
            yield 2, "a public header goes on with a comment: what it is for, what may go wrong"
        for match in OS_HEADER.finditer(text):
            yield line_of(text, match.start()), (
                f"<{match[1]}> in a public header: include it in the .cpp or in detail/"
            )


def order_violations(text, code):
    """Memory orders weaker than seq_cst that no comment explains."""
    lines, code_lines = text.splitlines(), code.splitlines()

    def explained(index):
        while "//" not in lines[index]:
            index -= 1
            above = code_lines[index] if index >= 0 else ""
            if not above.strip():
                return index >= 0 and "//" in lines[index]
            if STATEMENT_END.search(above) and not WEAK_ORDER.search(above):
                return False
        return True

    for index, line in enumerate(code_lines):
        if WEAK_ORDER.search(line) and not explained(index):
            order = WEAK_ORDER.search(line)[0]
            yield index + 1, f"{order}: say here or above which load or store it pairs with"


def functions(code):
    """Yields (name, first line, lines) of each function body outside any other function.

    Finds braces that follow a parameter list. Preprocessor lines are ignored, lambdas and local
    classes count as part of the function around them.
    """
    code = re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", "", code, flags=re.MULTILINE)
    stack, parens, head_start = [], 0, 0
    for match in re.finditer(r"[(){};]", code):
        token, at = match[0], match.start()
        inside = any(kind == "function" for kind, *_ in stack)
        if token == "(":
            parens += 1
        elif token == ")":
            parens -= 1
        elif token == "{":
            head = code[head_start:at]
            kind = "function" if inside else brace_kind(head, parens)
            stack.append((kind, head_start, head, inside))
            if kind != "initializer":
                head_start = at + 1
        elif token == "}" and stack:
            kind, start, head, nested = stack.pop()
            if kind == "function" and not nested:
                start += len(head) - len(head.lstrip())
                yield function_name(head), line_of(code, start), code.count("\n", start, at) + 1
            if kind != "initializer":
                head_start = at + 1
        elif token == ";" and not parens and not (stack and stack[-1][0] == "initializer"):
            head_start = at + 1


def brace_kind(head, parens):
    """What a brace opens, judged by the text between the last statement and it."""
    head = re.sub(r"\b(?:public|protected|private)\s*:(?!:)", "", head).strip()
    if parens > 0:
        return "initializer"
    if re.search(r"^(?:inline\s+)?namespace\b|^extern\b\s*\"", head):
        return "container"
    signature = re.sub(r"^template\s*<[^{}]*?>\s*(?=class|struct|union|enum)", "", head)
    declares_type = re.match(r"(?:class|struct|union|enum)\b", signature)
    if declares_type and not re.search(r"\)\s*(?:const)?$", head):
        return "container"
    # A member initializer's brace, as in `T(int x) : x_{x} {}`, follows a name; a body does not.
    in_member_list = re.search(r"\)\s*(?:noexcept\s*)?:[^:]", head)
    if in_member_list and re.search(r"[\w>]$", head):
        return "initializer"
    if "(" not in head or re.search(r"=\s*$|\breturn\b[^)]*$", head):
        return "initializer"
    return "function"


def function_name(head):
    """The name before the first parameter list, with a test's own name behind it."""
    test = re.search(r"\b((?:TYPED_)?TEST(?:_[FP])?|PERF_TEST)\s*\(\s*(\w+)\s*,\s*(\w+)", head)
    if test:
        return f"{test[2]}.{test[3]}"
    match = re.search(r"([\w:~]+|operator\s*\S+?)\s*\(", head)
    return re.sub(r"\s", "", match[1]) if match else "unnamed"


def length_violations(path, text, code, ratchet):
    """Files and functions that are longer than one can keep in mind."""
    count = text.count("\n")
    if ratchet.exceeds("file_lines", path, count, FILE_LINES_MAX):
        yield count, f"{count} lines: at most {FILE_LINES_MAX}; a second concept wants its own file"
    for name, line, lines in functions(code):
        where = f"{path}:{name}"
        if ratchet.exceeds("function_lines", where, lines, FUNCTION_LINES_MAX):
            yield line, f"{name} has {lines} lines: at most {FUNCTION_LINES_MAX}"


def test_violations(root, path, ratchet):
    """A .cpp of the library without a test beside it."""
    if path.suffix != ".cpp" or not in_library(path) or "detail" in path.parts:
        return
    beside = root / path.with_name(path.stem + "_test.cpp")
    if not beside.exists() and ratchet.exceeds("untested", path, 1, 0):
        yield 1, f"no {beside.name} beside it: a concept comes with its test"


def violations(root, ratchet):
    """Yields one line of text per violation in the files below root."""
    for full_path in files(root, CPP_SUFFIXES):
        path = pathlib.PurePosixPath(full_path.relative_to(root))
        text = full_path.read_text()
        code = code_only(text)
        found = [
            *line_violations(path, text, code),
            *header_violations(root, path, text),
            *order_violations(text, code),
            *length_violations(str(path), text, code, ratchet),
            *test_violations(root, path, ratchet),
        ]
        yield from (f"{path}:{line}: {message}" for line, message in sorted(found))
    for full_path in files(root, (".py", ".S")):
        for line, message in line_violations(full_path, full_path.read_text(), ""):
            if "columns" in message:
                yield f"{full_path.relative_to(root)}:{line}: {message}"
    yield from ratchet.slack(RATCHET_RULES)


def main(arguments):
    """Prints the violations, or that there are none; returns the exit status."""
    tighten = "--tighten" in arguments
    places = [word for word in arguments if not word.startswith("--")]
    root = pathlib.Path(places[0]) if places else ROOT
    ratchet = Ratchet(root / "tools/check/ratchet.txt")
    found = list(violations(root, ratchet))
    if tighten:
        ratchet.tighten(RATCHET_RULES)
        found = [line for line in found if "--tighten" not in line]
    print("\n".join(found) or "tidy: ok")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
