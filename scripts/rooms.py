"""The packages whose shape is held: complexity and length of files."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# A package is added once it is clean; the end is `backend`, `agents/src` and `scripts`.
HELD = ("backend/accounts", "backend/links.py", "backend/web", "scripts")


def modules(rooms=HELD):
    """Every Python module of the rooms, migrations aside."""
    for room in rooms:
        path = ROOT / room
        files = [path] if path.is_file() else sorted(path.rglob("*.py"))
        yield from (file for file in files if "migrations" not in file.parts)


def is_test(module):
    return "tests" in module.parts
