"""A size of what is sent is written once: nobody keeps a value of its own beside the table."""

import ast
from pathlib import Path

import pytest
from django.conf import settings

from backend.untrusted import limits

BACKEND = Path(__file__).parents[2]
# The packages that judge what is sent.
JUDGES = ("accounts", "api", "ingest", "web")
SIZES = [name for name in vars(limits) if name.endswith("_BYTES")]


def modules():
    for package in JUDGES:
        for path in (BACKEND / package).rglob("*.py"):
            if "tests" not in path.parts and path != Path(limits.__file__):
                yield path


def names_given(path):
    """The names that a module gives to values of its own."""
    for statement in ast.parse(path.read_text()).body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def test_no_other_module_gives_a_size_its_name():
    doubled = {
        f"{path.relative_to(BACKEND)}: {name}"
        for path in modules()
        for name in names_given(path)
        if name in SIZES
    }
    assert doubled == set()


def sizes_written_out(path):
    """Sizes in bytes within functions, such as 1 << 20."""
    for function in ast.walk(ast.parse(path.read_text())):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.BinOp) and isinstance(node.op, ast.LShift):
                    yield ast.unparse(node)


@pytest.mark.parametrize("package", ["api", "web"])
def test_no_view_writes_a_size_out(package):
    """A size within a function is a limit without a name."""
    found = {
        f"{path.relative_to(BACKEND)}: {size}"
        for path in modules()
        if path.parts[len(BACKEND.parts)] == package
        for size in sizes_written_out(path)
    }
    assert found == set()


def test_django_takes_forms_by_the_same_limits():
    assert settings.DATA_UPLOAD_MAX_NUMBER_FILES == limits.FILES
    assert settings.DATA_UPLOAD_MAX_NUMBER_FIELDS == limits.FORM_FIELDS
    assert settings.DATA_UPLOAD_MAX_MEMORY_SIZE == limits.FORM_BYTES
