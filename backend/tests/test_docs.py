"""What the documentation names exists, and no module has a name that the glossary rejects."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"
ARCHITECTURE = ROOT / "docs" / "architecture.md"
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "agents" / "README.md"])
GENERATED = {"formats.md", "checks.md", "studies.md"}
WRAPPED = [
    path
    for path in sorted([*DOCUMENTS, *ROOT.glob("docs/decisions/*.md")])
    if path.name not in GENERATED | {"CHANGELOG.md"}
]
# A path in backticks. A path with a placeholder (`<tool>`) or a glob has another character.
PATH = re.compile(r"`((?:agents|backend|docs|frontend|scripts)/[\w./-]*)`")
# "`A` and `B` in `backend/x.py`": the names, and the module that defines them.
NAMES = re.compile(
    r"((?:`\w+(?:\.\w+)?`(?:, | and ))*`\w+(?:\.\w+)?`) (?:in|of)\s"
    r"`((?:agents|backend|frontend|scripts)/[\w./-]+\.(?:py|ts))`"
)
TS_DEFINITION = re.compile(r"^(?:export )?(?:const|function|class|type|interface) (\w+)", re.M)
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


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_a_name_is_defined_in_the_module_that_a_document_gives(document):
    pairs = [
        (name, module)
        for names, module in NAMES.findall(document.read_text())
        for name in re.findall(r"`([\w.]+)`", names)
    ]
    assert pairs or document != ARCHITECTURE
    assert [pair for pair in pairs if pair[0] not in defined_in(ROOT / pair[1])] == []


def test_a_name_that_is_only_imported_is_not_defined(tmp_path):
    module = tmp_path / "reading.py"
    module.write_text("from tools import TOOLS\nclass Tool:\n    class Kind: ...\n")
    assert defined_in(module) == {"Tool", "Tool.Kind"}
    script = tmp_path / "views.ts"
    script.write_text('import { VIEWS } from "./views";\nexport const IDS = ["a"];\n')
    assert defined_in(script) == {"IDS"}


@pytest.mark.parametrize("config", ["pyproject.toml", "agents/pyproject.toml"])
def test_architecture_has_the_layers_that_are_enforced(config):
    contracts = tomllib.loads((ROOT / config).read_text())["tool"]["importlinter"]["contracts"]
    layers = [" > ".join(each["layers"]) for each in contracts if each["type"] == "layers"]
    assert layers
    text = " ".join(ARCHITECTURE.read_text().split())
    assert [line for line in layers if line not in text] == []


def test_architecture_names_every_room_of_the_backend():
    text = ARCHITECTURE.read_text()
    rooms = {
        str(file.parent.relative_to(ROOT))
        for pattern in ("*", "*/*")
        for file in ROOT.glob(f"backend/{pattern}/__init__.py")
        if file.parent.name not in ("tests", "migrations", "management")
        # One room for each load tool, and for each scene of the tests.
        and file.parent.parent.name not in ("formats", "testing")
    }
    assert {room for room in rooms if f"`{room}`" not in text} == set()


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


@pytest.mark.parametrize("word", ["payer", "turn", "limit"])
def test_words_of_limits_are_in_the_glossary(word):
    assert re.search(rf"^\| (?:[^|]*, )?{word}(?:,[^|]*)? \| ", GLOSSARY.read_text(), re.M)


def defined_in(module):
    """The names that a module itself defines; a class in a class as `Outer.Inner`."""
    text = module.read_text()
    if module.suffix == ".ts":
        return set(
            re.findall(r"^(?:export )?(?:const|function|class|type|interface) (\w+)", text, re.M)
        )
    return set(names_of(ast.parse(text).body))


def names_of(statements, prefix=""):
    for statement in statements:
        if isinstance(statement, ast.ClassDef):
            yield prefix + statement.name
            yield from names_of(statement.body, f"{prefix}{statement.name}.")
        elif isinstance(statement, ast.FunctionDef):
            yield prefix + statement.name
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            yield from (prefix + each.id for each in targets if isinstance(each, ast.Name))


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
