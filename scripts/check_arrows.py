"""Count the rooms of each package, and the arrows between them: scripts/check_arrows.py

A room is a folder or a module directly in a package. An arrow is that modules of one room import
those of another. Fails where a package has more than it may; where it needs one more, look first
whether a module stands in the wrong room. import-linter refuses circles.
"""

import ast
import sys
from pathlib import Path

import rooms

# Package: most rooms, most arrows.
MOST = {
    "accounts": (14, 36),
    "api": (11, 21),
    "config": (13, 18),
    "ingest": (14, 38),
    "runs": (9, 26),
    "storage": (6, 8),
    "untrusted": (6, 6),
    "web": (17, 37),
}
BACKEND = rooms.ROOT / "backend"


def main():
    complaints = []
    for package, most in MOST.items():
        arrows = arrows_of(BACKEND / package)
        counted = len(rooms_of(BACKEND / package)), len(arrows)
        print(f"{package:10} {counted[0]:3} rooms {counted[1]:3} arrows")
        if counted[0] > most[0] or counted[1] > most[1]:
            lines = "".join(f"\n  {source} -> {target}" for source, target in sorted(arrows))
            complaints.append(
                f"backend/{package}: {counted[0]} rooms and {counted[1]} arrows; "
                f"{most[0]} and {most[1]} are allowed{lines}"
            )
    if complaints:
        sys.exit("\n".join(complaints))


def modules_of(package):
    files = rooms.modules([str(package.relative_to(rooms.ROOT))])
    return [file for file in files if not rooms.is_test(file)]


def rooms_of(package):
    """The names of the folders and modules in a package."""
    return {room_of(module, package) for module in modules_of(package)} - {"__init__"}


def room_of(module, package):
    return Path(module.relative_to(package).parts[0]).stem


def arrows_of(package):
    """Pairs of rooms: the first imports the second."""
    names, pairs = rooms_of(package), set()
    for module in modules_of(package):
        source = room_of(module, package)
        targets = {imported(name, package) for name in names_imported(module)} & names
        pairs |= {(source, target) for target in targets - {source, "__init__"}}
    return {(source, target) for source, target in pairs if source != "__init__"}


def names_imported(module):
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{each.name}" for each in node.names)


def imported(name, package):
    """The room of a package that a dotted name is in, or names; "" for others."""
    parts = name.split(".")
    return parts[2] if len(parts) > 2 and parts[:2] == ["backend", package.name] else ""


main()
