"""Refuse functions with a cyclomatic complexity above 10, or more than 40 lines.

Branches in comprehensions and boolean operators count, as radon counts them. Rooms are those of
scripts/rooms.py; with arguments, others: scripts/check_complexity.py backend/analysis
"""

import sys

import rooms
from radon.complexity import cc_visit
from radon.visitors import Class

MAX_COMPLEXITY = 10
MAX_LINES = 40


def main():
    complaints = [
        complaint
        for module in rooms.modules(sys.argv[1:] or rooms.HELD)
        if not rooms.is_test(module)
        for complaint in complaints_of(module)
    ]
    if complaints:
        sys.exit("\n".join(complaints))


def complaints_of(module):
    """One line for each function of the module that is too complex or too long."""
    for block in cc_visit(module.read_text()):
        if isinstance(block, Class):
            continue
        place = f"{module.relative_to(rooms.ROOT)}:{block.lineno} {block.name}"
        lines = block.endline - block.lineno + 1
        if block.complexity > MAX_COMPLEXITY:
            yield f"{place}: complexity {block.complexity}, allowed is {MAX_COMPLEXITY}"
        if lines > MAX_LINES:
            yield f"{place}: {lines} lines, allowed are {MAX_LINES}"


main()
