"""Only the comparison and the judge of builds hold series against each other.

What they import for it is kept from others by a contract in pyproject.toml ("One judge"). Here: no
other module has means or spreads of its own, from which it could rank.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

BACKEND = Path(__file__).parents[1]
JUDGES = ("stats", "analysis/compare", "analysis/judge")
# What else may: the trials of one cell, and the history of one host.
OF_ONE_SUBJECT = ("runs/checks", "noise")
MEANS = {
    "statistics": {
        *("NormalDist", "fmean", "geometric_mean", "harmonic_mean", "mean"),
        *("pstdev", "pvariance", "quantiles", "stdev", "variance"),
    },
    "django.db.models": {"Avg", "StdDev", "Variance"},
}


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in BACKEND.rglob("*.py"):
        name = path.relative_to(BACKEND).as_posix()
        if not {"tests", "testing", "migrations"} & set(name.split("/")):
            yield name, ast.parse(path.read_text())


def means_of(tree: ast.Module) -> Iterator[str]:
    """What the module imports to make means or spreads."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in MEANS:
            yield from ({name.name for name in node.names} & MEANS[node.module])
        if isinstance(node, ast.Import):
            yield from ({name.name for name in node.names} & {"statistics", "scipy"})


def test_nothing_but_the_judges_has_means_of_several_series():
    found = {name: list(means_of(tree)) for name, tree in modules()}
    having = {name for name, means in found.items() if means}
    assert {"stats/noise.py", "noise/record.py", "runs/checks/cell.py"} <= having
    others = {name for name in having if not name.startswith((*JUDGES, *OF_ONE_SUBJECT))}
    assert others == set()


def test_a_module_with_a_mean_of_its_own_is_found():
    assert list(means_of(ast.parse("from statistics import geometric_mean, median")))
    assert list(means_of(ast.parse("import statistics")))
    assert not list(means_of(ast.parse("from statistics import median")))
