"""The servers that the studies name: what is known of each, and whether it runs today.

Pure: no Django. `servers.toml` has an entry for each; `features_2009.csv` is a table of 2009.
"""

import csv
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from backend.library.study import Study, read_studies

SERVERS = Path(__file__).with_name("servers.toml")
FEATURES = Path(__file__).with_name("features_2009.csv")
# Of a checkout: only the documentation is made from it.
SERVERS_TO_MEASURE = Path(__file__).parents[2] / "agents" / "servers"
# The columns of the feature table of 2009, as a page names them.
FEATURE_LABELS = {
    "license": "Licence",
    "style": "Event model",
    "epoll": "Uses epoll",
    "socket": "TCP sockets",
    "wsgi": "WSGI",
    "comet": "Comet",
    "thread_pool": "Thread pool",
    "documentation": "Documentation",
    "examples": "Examples",
    "production": "Used in production",
    "tests": "Tests",
    "active": "Active",
    "community": "Community",
    "repository": "Repository",
    "blog": "Blog",
    "twitter": "Twitter",
}


class Install(Struct, frozen=True, forbid_unknown_fields=True):
    """A version that was started, and where it comes from."""

    version: str
    how: str


class ShelvedServer(Struct, frozen=True, forbid_unknown_fields=True):
    """A server of the studies. `measured_as`: its names in the runs, where they differ.

    `folder`: of agents/servers, where it is named otherwise. `licence` and `style` are given where
    the feature table of 2009 has none.
    """

    slug: str
    name: str
    language: str
    studies: tuple[str, ...]
    today: Literal["yes", "in part", "no"]
    folder: str = ""
    licence: str | None = None
    style: str | None = None
    remark: str = ""
    measured_as: tuple[str, ...] = ()
    installs: tuple[Install, ...] = ()

    @property
    def repeat_text(self) -> str:
        """The command that starts it from agents/servers and tries it, or why there is none."""
        folder = SERVERS_TO_MEASURE / (self.folder or self.slug)
        if (folder / "server.toml").exists():
            return f"`loadsheet servers check {folder.name}`"
        reason = tomllib.loads((folder / "unavailable.toml").read_text())["reason"]
        return f"no: {reason.rstrip('.')}"

    @property
    def run_names(self) -> tuple[str, ...]:
        """Its names in the runs of the library."""
        return self.measured_as or (self.name,)

    @property
    def named_in(self) -> tuple[Study, ...]:
        """The studies that name it, the oldest first."""
        return tuple(study for study in read_studies() if study.name in self.studies)

    @property
    def features(self) -> Mapping[str, str]:
        """Its row of the feature table of 2009 by label; empty if it has none."""
        return _features().get(self.name, {})

    @property
    def event_model(self) -> str | None:
        """How it handles many connections, as far as a study says it."""
        return self.style or self.features.get(FEATURE_LABELS["style"])

    @property
    def known_licence(self) -> str | None:
        """Its licence; None if neither a study nor its package says it."""
        return self.licence or self.features.get(FEATURE_LABELS["license"])


@cache
def read_shelf() -> tuple[ShelvedServer, ...]:
    """Every server, by name. Raises ValueError where the file is not as expected."""
    document = tomllib.loads(SERVERS.read_text())
    servers = msgspec.convert(document["servers"], tuple[ShelvedServer, ...])
    return tuple(sorted(servers, key=lambda server: server.name.lower()))


def find_shelved(slug: str) -> ShelvedServer | None:
    return next((server for server in read_shelf() if server.slug == slug), None)


@cache
def _features() -> Mapping[str, Mapping[str, str]]:
    with FEATURES.open(newline="") as file:
        return {
            row["name"]: {label: row[column] for column, label in FEATURE_LABELS.items()}
            for row in csv.DictReader(file)
        }
