"""Plans of strangers are read in little memory, whatever they hold."""

import itertools
import string
import tracemalloc
from pathlib import Path

import pytest

from backend.runs.measured import plan
from backend.runs.measured.plan import MOST_CHARACTERS, MOST_DOTS, read_plan

BACKEND = Path(plan.__file__).parents[2]
MOST_BYTES = 40 << 20
LONG_KEY = ".".join("a" * 6_000) + " = 1"
DEEPEST = ".".join("a" * MOST_DOTS)


def many(line, below=""):
    """As many lines as a plan may have, each with a name of its own."""
    names = map("".join, itertools.product(string.ascii_letters, repeat=3))
    count = (MOST_CHARACTERS - len(below)) // (len(line) + 1)
    text = below + "\n".join(line.format(name) for name in itertools.islice(names, count))
    assert MOST_CHARACTERS / 2 < len(text) <= MOST_CHARACTERS
    return text


def peak_bytes(act):
    tracemalloc.start()
    try:
        act()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "text",
    [
        many("[{0}." + DEEPEST + "]"),
        many("{0}." + DEEPEST + " = 1"),
        many("{0}." + DEEPEST + " = 1", below=f"[{DEEPEST}]\n"),
        many("{0} = {{" + DEEPEST + " = 1}}"),
        many("{0} = [[[[[[]]]]]]"),
    ],
    ids=["tables", "keys", "keys of a table", "inline tables", "lists"],
)
def test_a_plan_within_the_limits_takes_little_memory(text):
    assert read_plan(text)
    assert peak_bytes(lambda: read_plan(text)) < MOST_BYTES


@pytest.mark.parametrize(
    "text",
    [
        LONG_KEY,
        f"[{LONG_KEY.split()[0]}]\nb = 1",
        # PostgreSQL and Python know other ends of lines than TOML does.
        ".".join(['"\N{LINE SEPARATOR}"'] * 6_000) + " = 1",
        "a = 1 # " + "x" * MOST_CHARACTERS,
    ],
    ids=["key", "table", "odd ends of lines", "long"],
)
def test_a_plan_beyond_the_limits_is_not_read(text):
    assert peak_bytes(lambda: read_plan(text)) < MOST_BYTES
    assert read_plan(text) is None


@pytest.mark.parametrize("text", ["a = " + "1" * 5_000, "a = 0x" + "f" * 5_000])
def test_a_plan_with_a_number_that_python_does_not_write_is_not_read(text):
    assert read_plan(text) is None


def test_a_comment_may_have_many_dots():
    assert read_plan(f"# {'.' * 80}\norder = 'randomised'") == {"order": "randomised"}


def test_plans_are_read_in_one_place():
    """The library's own files are not sent by strangers."""
    readers = {
        str(path.relative_to(BACKEND))
        for path in BACKEND.rglob("*.py")
        if "tests" not in path.parts and "tomllib" in path.read_text()
    }
    assert readers == {"runs/measured/plan.py", "library/shelf.py", "library/study.py"}
