"""A workspace reached over the API alone: outputs go up, and its comparison comes back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.test import Client

from backend.ingest.queue.worker import process
from backend.testing.made.printing import CONNECTIONS
from backend.testing.uploads import Tenant, make_envelope, make_file, make_tenant

# One trial of an envelope, to be changed in place.
Edit = Callable[[dict[str, Any]], None]
_FACTS = {"cpu_governor": "performance", "nic_speed_mbit": 10_000}
_MACHINE = {"cpu_model": "Xeon", "cores": 8, "kernel": "Linux 6.1", "os": "Debian 12"}
CLIENT = {"name": "client-1", **_MACHINE, "facts": _FACTS}
SERVER = {"name": "server-1", **_MACHINE, "facts": _FACTS}


def change_nothing(_trial: dict[str, Any]) -> None:
    """Leave a trial of the envelope as it is."""


@dataclass(frozen=True, slots=True)
class Lab:
    """One workspace with a token. Each answer must be a success."""

    tenant: Tenant = field(default_factory=make_tenant)
    client: Client = field(default_factory=Client)

    def upload(
        self,
        outputs: Mapping[str, Sequence[str]],
        *,
        edit: Edit = change_nothing,
        tool: str = "wrk",
        connections: int | None = CONNECTIONS,
        in_order: bool = False,
        **envelope: Any,
    ) -> str:
        """Upload one run with an output for each trial of each server, and return the run's id.

        The servers are measured in turn, in an order that changes; with `in_order` one after the
        other. `connections`: as the envelope says. `edit` changes a trial of the envelope,
        `envelope` the rest of it.
        """
        turns = list(_in_order(outputs) if in_order else _in_turn(outputs))
        load = {"tool": tool, "connections": connections}
        trials = [_trial(at, *turn[:2], load) for at, turn in enumerate(turns)]
        for trial in trials:
            edit(trial)
        whole = {
            **make_envelope(0),
            "hosts": {"client": CLIENT, "server": SERVER},
            "same_host": False,
            **envelope,
            "trials": trials,
        }
        files = [make_file(text, f"{at}.txt") for at, (_, _, text) in enumerate(turns)]
        answer = self.client.post(
            "/api/v1/uploads",
            {"envelope": json.dumps(whole), "file": files},
            headers=self.tenant.headers,
        )
        assert answer.status_code == 202, answer.content
        process(answer.json()["id"])
        return str(answer.json()["id"])

    def ask(self, **query: Any) -> Answer:
        """The comparison of everything in the workspace."""
        return Answer(self._get("compare", **query).json())

    def ask_csv(self, **query: Any) -> str:
        return str(self._get("compare.csv", **query).content.decode())

    def _get(self, path: str, **query: Any) -> Any:
        asked = {"workspace": self.tenant.workspace.slug, **query}
        answer = self.client.get(f"/api/v1/{path}", asked, headers=self.tenant.headers)
        assert answer.status_code == 200, answer.content
        return answer


@dataclass(frozen=True, slots=True)
class Answer:
    """A comparison as the API answers it."""

    figures: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.figures[name]

    @property
    def fired(self) -> dict[str, str]:
        """The severity of each check that fires, by its id."""
        return {check["id"]: check["severity"] for check in self["checks"]}

    @property
    def reasons(self) -> list[str]:
        return list(self["outcome"]["reasons"])

    @property
    def is_ranked(self) -> bool:
        """Whether every series has a place."""
        ranking = self["ranking"]
        return ranking is not None and all(row["tier"] for row in ranking["rows"])

    def row(self, server: str) -> dict[str, Any]:
        """The row of a server in the ranking."""
        return next(row for row in self["ranking"]["rows"] if row["label"].startswith(server))

    def point(self, server: str) -> dict[str, Any]:
        """The only point of a server."""
        series = next(row for row in self["series"] if row["server"] == server)
        (point,) = series["points"]
        return dict(point)


def _in_turn(outputs: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, int, str]]:
    for repeat in range(max(map(len, outputs.values()))):
        servers = [name for name, texts in outputs.items() if repeat < len(texts)]
        for name in servers if repeat % 2 else reversed(servers):
            yield name, repeat, outputs[name][repeat]


def _in_order(outputs: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, int, str]]:
    for name, texts in outputs.items():
        for repeat, text in enumerate(texts):
            yield name, repeat, text


def _trial(at: int, server: str, repeat: int, load: Mapping[str, Any]) -> dict[str, Any]:
    """What an agent would say of the trial, and no more. Each trial has a start of its own."""
    return {
        "ordinal": at,
        "server": {"name": server, "version": "1.0"},
        "workload": {"name": "hello", "method": "GET", "path": "/", "keepalive": True},
        "load": {**load, "start": at + 1},
        "repeat": repeat,
        "exit_code": 0,
        "artefacts": [f"{at}.txt"],
    }
