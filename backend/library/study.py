"""The published benchmarks of the library as records, read from `studies/<name>/study.toml`.

Pure: no Django. The files hold figures and our own words, no text of a publication.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

# Of a study's faults, as many as a reader takes in at once.
FIRST_FAULTS = 3
FOLDER = Path(__file__).parent / "studies"


class Outputs(Struct, frozen=True, forbid_unknown_fields=True):
    """Outputs of a load tool for one server: every file of `raw/<folder>`."""

    folder: str
    server: dict[str, Any]
    workload: dict[str, Any] = {}
    load: dict[str, Any] = {}

    def paths(self, study: Study) -> list[Path]:
        """Its files, in the order of load and repeat."""
        files = (study.folder / "raw" / self.folder).glob("*.txt")
        return sorted(files, key=lambda path: (_load_of(path), repeat_of(path)))


class StudyRun(Struct, frozen=True, forbid_unknown_fields=True):
    """A run of a study, of published tables or of outputs. `frozen`: shown by the result set."""

    name: str
    tables: tuple[str, ...] = ()
    outputs: tuple[Outputs, ...] = ()
    frozen: bool = False
    same_host: bool | None = None
    hosts: dict[str, dict[str, Any]] = {}
    # Of every output that says nothing else.
    workload: dict[str, Any] = {}
    load: dict[str, Any] = {}


class Figure(Struct, frozen=True, forbid_unknown_fields=True):
    """A figure of the text that belongs to no trial, with its line."""

    text: str
    value: str
    line: int


class Study(Struct, frozen=True, forbid_unknown_fields=True):
    """A published benchmark: what it asked, what it found, and what was wrong with it.

    `published`: ISO 8601, as exact as it is known. `query`: how its result set is asked for.
    """

    name: str
    title: str
    source: str
    author: str
    published: str
    question: str
    won: str
    saturation: str
    wrong: tuple[str, ...]
    unsaid: tuple[str, ...]
    conditions: tuple[str, ...]
    method: tuple[str, ...]
    repeatable: str
    runs: tuple[StudyRun, ...]
    figures: tuple[Figure, ...] = ()
    query: str = ""

    @property
    def folder(self) -> Path:
        return FOLDER / self.name

    @property
    def first_faults(self) -> tuple[str, ...]:
        """The gravest of what was wrong."""
        return self.wrong[:FIRST_FAULTS]

    @property
    def further_faults(self) -> tuple[str, ...]:
        """What else was wrong."""
        return self.wrong[FIRST_FAULTS:]


@cache
def read_studies() -> tuple[Study, ...]:
    """Every study, the oldest first. Raises ValueError where a file is not as expected."""
    return tuple(sorted(_studies(), key=lambda study: study.published))


def find_study(name: str) -> Study:
    """The study of this name. Raises StopIteration if there is none."""
    return next(study for study in read_studies() if study.name == name)


def _studies() -> Iterator[Study]:
    for path in FOLDER.glob("*/study.toml"):
        values = {"name": path.parent.name, **tomllib.loads(path.read_text())}
        yield msgspec.convert(values, Study)


def _load_of(path: Path) -> int:
    """The load in a name such as `c1000-2.txt`; 0 where it has none."""
    digits = path.stem.rpartition("-")[0].lstrip("cr")
    return int(digits) if digits.isdigit() else 0


def repeat_of(path: Path) -> int:
    """The repeat in a name such as `c1000-2.txt`."""
    return int(path.stem.rpartition("-")[2])
