"""Each class in a template is one that a style, a script or a test reads."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
READERS = (("frontend/styles", "*.css"), ("frontend/src", "*.ts"), ("backend", "*.py"))
CLASSES = re.compile(r'class="([^"]*)"')
# A part that a template fills in, with the part of the name before it.
FILLED = re.compile(r"[\w-]*\{[{%].*?[%}]\}")
NAME = re.compile(r"[a-z][a-z0-9-]*")


def test_each_class_of_a_template_is_read():
    written = {
        name
        for path in (ROOT / "frontend/templates").rglob("*.html")
        for classes in CLASSES.findall(path.read_text())
        for name in NAME.findall(FILLED.sub(" ", classes))
    }
    read = {
        name
        for folder, pattern in READERS
        for path in (ROOT / folder).rglob(pattern)
        for name in NAME.findall(path.read_text())
    }
    assert len(written) > 100
    assert sorted(written - read) == []
