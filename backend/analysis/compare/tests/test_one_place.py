"""What several sentences of answers say, and the metrics they name, stand in one module each."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

BACKEND = Path(__file__).parents[3]
# The modules that write sentences about series, and what these take from others.
ROOMS = ("analysis/compare", "analysis/grouping", "analysis/judge", "analysis/query", "runs/checks")


def texts_of(tree: ast.Module) -> Iterator[str]:
    """The texts of a module, without its docstrings."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in docstrings:
            yield str(node.value)


def modules_with(text: str) -> list[str]:
    return [
        path.relative_to(BACKEND).as_posix()
        for room in ROOMS
        for path in sorted((BACKEND / room).glob("*.py"))
        if text in texts_of(ast.parse(path.read_text()))
    ]


@pytest.mark.parametrize(
    ("text", "modules"),
    [
        # As in "p99 may be over 20 ms".
        (" may be ", ["analysis/compare/capacity.py"]),
        ("in this run", ["analysis/compare/replication.py"]),
        ('`restart = "each-repeat"`', ["runs/checks/interruptions.py"]),
        # A check has the percentiles that k6 prints.
        ("p99", ["analysis/query/metrics.py", "runs/checks/latency.py"]),
    ],
)
def test_it_is_written_once(text, modules):
    assert modules_with(text) == modules
