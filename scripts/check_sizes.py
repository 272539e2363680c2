"""Refuse long files and template lines above 120 characters."""

import sys

import rooms

MAX_LINES = 400
MAX_TEST_LINES = 400
MAX_TEMPLATE_WIDTH = 120
TEMPLATES = rooms.ROOT / "frontend" / "templates"


def main():
    complaints = [
        complaint for module in rooms.modules() for complaint in module_complaints(module)
    ]
    complaints += [
        complaint for path in sorted(TEMPLATES.rglob("*.html")) for complaint in wide_lines(path)
    ]
    if complaints:
        sys.exit("\n".join(complaints))


def module_complaints(module):
    allowed = MAX_TEST_LINES if rooms.is_test(module) else MAX_LINES
    lines = len(module.read_text().splitlines())
    if lines > allowed:
        yield f"{module.relative_to(rooms.ROOT)}: {lines} lines, allowed are {allowed}"


def wide_lines(template):
    for number, line in enumerate(template.read_text().splitlines(), 1):
        if len(line) > MAX_TEMPLATE_WIDTH:
            place = f"{template.relative_to(rooms.ROOT)}:{number}"
            yield f"{place}: {len(line)} characters, allowed are {MAX_TEMPLATE_WIDTH}"


main()
