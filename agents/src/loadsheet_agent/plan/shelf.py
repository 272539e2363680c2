"""The shelf: a folder for each server, from which plans take servers by name and version.

<shelf>/<name>/server.toml            what every version shares
<shelf>/<name>/versions/<v>.toml      what one version needs, and <v>.lock with hashes
<shelf>/<name>/app/                   applications of this server
<shelf>/<name>/unavailable.toml       why the server is not available
<shelf>/_apps/                        applications that servers share
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from loadsheet_agent.errors import PlanError
from loadsheet_agent.plan import placeholders
from loadsheet_agent.plan.keys import AnyTable, Names, Text, key
from loadsheet_agent.plan.place import Place
from loadsheet_agent.plan.sources import merge, read_source, read_toml
from loadsheet_agent.plan.toml_table import Record, read_table

CURRENT = "current"
APPS = "_apps"
HERE = Path(__file__).resolve()


@dataclass(frozen=True)
class ShelfSpec:
    """`server.toml`: what a server is, and how each of its versions is started."""

    title: str = key(Text(), "Name that people know it by.", example='"Gunicorn, sync worker"')
    style: str = key(Text(), "How it serves many connections.", example='"pre-fork workers"')
    language: str = key(Text(), "Language it is written in.", example='"Python"')
    licence: str = key(Text(), "Its licence.", example='"MIT"')
    serves: tuple[str, ...] = key(
        Names(), "Paths of the shelf's pages that it answers.", example='["/", "/json"]'
    )
    server: Mapping[str, Any] = key(AnyTable(), "Keys of a plan's [[servers]].", default={})


@dataclass(frozen=True)
class VersionSpec:
    """`versions/<v>.toml`: what one version needs."""

    trouble: str | None = key(Text(limit=1000), "What is known to go wrong.", default=None)
    unavailable: str | None = key(
        Text(limit=1000), "Why this version is not available.", default=None
    )
    serves: tuple[str, ...] = key(
        Names(), "Paths that it answers, where they differ from server.toml.", default=()
    )
    server: Mapping[str, Any] = key(
        AnyTable(), "Keys that replace those of server.toml.", default={}
    )


@dataclass(frozen=True)
class UnavailableSpec:
    """`unavailable.toml`: a server that is not available."""

    title: str = key(Text(), "Name that people know it by.", example='"FriendlyFlow"')
    reason: str = key(Text(limit=1000), "Why it is not available.", example='"in no registry"')
    tried: tuple[str, ...] = key(Names(), "Where it was looked for.", default=())


@dataclass(frozen=True)
class ShelfEntry:
    """One folder of the shelf."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @cached_property
    def spec(self) -> ShelfSpec:
        """`server.toml`. Raises PlanError."""
        return _read(self.folder / "server.toml", ShelfSpec)

    @cached_property
    def unavailable(self) -> UnavailableSpec | None:
        path = self.folder / "unavailable.toml"
        return _read(path, UnavailableSpec) if path.exists() else None

    @property
    def title(self) -> str:
        return self.unavailable.title if self.unavailable else self.spec.title

    @property
    def versions(self) -> list[str]:
        """Names of its versions; `current` is the last."""
        names = [path.stem for path in (self.folder / "versions").glob("*.toml")]
        return sorted(names, key=lambda name: (name == CURRENT, name))

    def version(self, name: str) -> VersionSpec:
        """Raises PlanError."""
        return _read(self.folder / "versions" / f"{name}.toml", VersionSpec)

    def serves(self, version: str) -> tuple[str, ...]:
        """Paths of the pages that a version answers."""
        return self.version(version).serves or self.spec.serves

    def pick_versions(self, names: Sequence[str]) -> list[str]:
        """The named versions; without a name the current one. Raises PlanError.

        Of a server that is not available, any version is accepted.
        """
        versions, names = self.versions, names or (CURRENT,)
        if self.unavailable is not None:
            return list(names)
        unknown = [name for name in names if name not in versions]
        if unknown:
            raise PlanError(
                f"{self.name} has no version {unknown[0]!r} on the shelf; it has "
                f"{', '.join(versions) or 'none'}."
            )
        return list(names)

    def server_table(self, version: str) -> dict[str, Any]:
        """The `[[servers]]` table of one version, with {shelf} and {apps} filled in."""
        label = f"{self.name}@{version}"
        if self.unavailable is not None:
            return {
                "name": self.title,
                "variant": label,
                "url": "http://127.0.0.1:{port}",
                "start": [self.name],
                "unavailable": self.unavailable.reason,
            }
        table = merge(dict(self.spec.server), dict(self.version(version).server))
        lock = self.folder / "versions" / f"{version}.lock"
        if lock.exists() and "packages" in table:
            table["lock"] = str(lock)
        words = {"shelf": str(self.folder), "apps": str(self.folder.parent / APPS)}
        filled: dict[str, Any] = placeholders.fill_value(table, words)
        return {"name": self.spec.title, "variant": label, **filled}

    def sources(self, version: str) -> dict[str, str]:
        """The texts that describe the version, by their path below the shelf."""
        paths: tuple[Path, ...] = (self.folder / "unavailable.toml",)
        if self.unavailable is None:
            paths = (
                self.folder / "server.toml",
                self.folder / "versions" / f"{version}.toml",
            )
        return {f"{path.relative_to(self.folder.parent)}": read_source(path) for path in paths}


class Shelf:
    """The folders of a shelf."""

    def __init__(self, folder: Path) -> None:
        """Raises PlanError where the folder is not there."""
        if not folder.is_dir():
            raise PlanError(
                f"the shelf {folder} is missing; give its folder as `shelf` in the plan or in "
                "LOADSHEET_SHELF."
            )
        self.folder = folder

    def entries(self) -> list[ShelfEntry]:
        """Every server, by name."""
        return [
            ShelfEntry(path)
            for path in sorted(self.folder.iterdir())
            if path.is_dir() and not path.name.startswith(("_", "."))
        ]

    def entry(self, name: str) -> ShelfEntry:
        """Raises PlanError for a name that is not on the shelf."""
        names = [entry.name for entry in self.entries()]
        if name not in names:
            raise PlanError(f"no server {name!r} is on the shelf; it has {', '.join(names)}.")
        return ShelfEntry(self.folder / name)

    def digests(self, name: str) -> dict[str, str]:
        """SHA-256 of the files that a server's programs are made of, by path below the shelf."""
        paths = [
            path
            for folder in (self.folder / name / "app", self.folder / APPS)
            for path in folder.rglob("*")
            if path.is_file() and path.suffix != ".pyc"
        ]
        paths += (self.folder / name / "versions").glob("*.lock")
        return {
            str(path.relative_to(self.folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in paths
        }


def shelf_folder(given: str | None, directory: Path, environ: Mapping[str, str]) -> Path:
    """`given` is the plan's, relative to `directory`; else LOADSHEET_SHELF, else the agent's."""
    if given is not None:
        return (directory / str(given)).resolve()
    named = environ.get("LOADSHEET_SHELF")
    return Path(named).resolve() if named else HERE.parents[3] / "servers"


def parse_use(value: Any, place: Place) -> tuple[str, tuple[str, ...]]:
    """`tornado@0.2,current` as its name and versions."""
    name, _, versions = Text().read(value, place).partition("@")
    return name, tuple(version.strip() for version in versions.split(",") if version.strip())


def _read(path: Path, record: type[Record]) -> Record:
    name = f"{path.parent.name}/{path.name}"
    return read_table(read_toml(read_source(path), name), record, Place(name))
