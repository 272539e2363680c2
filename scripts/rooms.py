"""The folders whose modules have limits of complexity and length."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HELD = ("backend", "agents/src", "scripts")


def modules(rooms=HELD):
    """Every Python module of the rooms, migrations aside."""
    for room in rooms:
        path = ROOT / room
        files = [path] if path.is_file() else sorted(path.rglob("*.py"))
        yield from (file for file in files if "migrations" not in file.parts)


def is_test(module):
    return "tests" in module.parts
