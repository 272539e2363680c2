"""The documentation names paths that exist, and no module has a name that the glossary rejects."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
GENERATED = {"formats.md", "checks.md", "studies.md"}
WRAPPED = [
    path
    for path in sorted([*DOCUMENTS, *ROOT.glob("docs/decisions/*.md")])
    if path.name not in GENERATED | {"CHANGELOG.md"}
]
# A path in backticks. A path with a placeholder (`<tool>`) or a glob has another character.
PATH = re.compile(r"`((?:agents|backend|docs|frontend|scripts)/[\w./-]*)`")
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)[^)]*\)")
# Made by the start or by an installation, and no part of a checkout.
BUILT = (str(ROOT / "agents" / "dist"), str(ROOT / "frontend" / "node_modules"))
SOURCES = {
    "backend": "*.py",
    "agents/src": "*.py",
    "agents/tests": "*.py",
    "scripts": "*.py",
    "frontend/src": "*.ts",
}
MAX_WIDTH = 110


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_path_and_link_of_a_document_exists(document):
    text = document.read_text()
    paths = [ROOT / path for path in PATH.findall(text)]
    links = [document.parent / link for link in LINK.findall(text)]
    missing = [str(path) for path in paths + links if not path.exists()]
    assert [path for path in missing if not path.startswith(BUILT)] == []


def test_architecture_names_every_folder_of_the_backend_and_of_analysis():
    text = (ROOT / "docs" / "architecture.md").read_text()
    packages = [
        *ROOT.glob("backend/*/__init__.py"),
        *ROOT.glob("backend/analysis/*/__init__.py"),
    ]
    folders = {str(package.parent.relative_to(ROOT)) for package in packages}
    # `backend/tests` holds tests of several packages together.
    assert {folder for folder in folders - {"backend/tests"} if f"`{folder}`" not in text} == set()


@pytest.mark.parametrize("document", WRAPPED, ids=lambda path: str(path.relative_to(ROOT)))
def test_lines_of_a_document_are_short_enough_to_review(document):
    assert [line for line in prose_of(document) if len(line) > MAX_WIDTH] == []


def test_no_module_has_a_name_that_the_glossary_rejects():
    rejected = rejected_words()
    assert {"utils", "standing", "moment"} <= rejected
    modules = [
        path for folder, pattern in SOURCES.items() for path in (ROOT / folder).rglob(pattern)
    ]
    assert modules
    assert [str(path.relative_to(ROOT)) for path in modules if stem(path) in rejected] == []


def rejected_words():
    """The first column of the table under "Words we do not use"."""
    table = GLOSSARY.read_text().split("## Words we do not use")[1]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| ")]
    return {word.strip() for row in rows[1:] for word in row.split(",")}


def prose_of(document):
    """The lines that can be wrapped: no tables, no code, no line that is one long word."""
    is_code = False
    for line in document.read_text().splitlines():
        is_code ^= line.startswith("```")
        if not is_code and not line.startswith(("|", "    ", "![")):
            yield LINK.sub("]", line)


def stem(path):
    """The name of a module without its ending, and without what marks it as a test."""
    return path.name.split(".")[0].removeprefix("test_")
