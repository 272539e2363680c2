"""Reads a plan: TOML text to records, environment variables filled in, every rule checked."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from loadsheet_agent.errors import PlanError
from loadsheet_agent.plan import checks, placeholders
from loadsheet_agent.plan.composition import Composition
from loadsheet_agent.plan.place import Place
from loadsheet_agent.plan.plan import SIDES, USUAL_CONNECTIONS, USUAL_DURATION_S, LoadSpec, Plan
from loadsheet_agent.plan.server_spec import ServerSpec, ServiceSpec
from loadsheet_agent.plan.sources import read_source, read_toml
from loadsheet_agent.plan.toml_table import read_table
from loadsheet_agent.plan.workload_spec import PLAN_LIMIT, WorkloadSpec

BODY_LIMIT = 16 * 1024 * 1024  # bytes of a body_file


def read_plan(path: Path, *, is_short: bool = False) -> Plan:
    """`is_short`: in its short form. Raises PlanError, one sentence with its place in the file."""
    text = read_source(path)
    # Written into the text, so that the recorded plan says by itself what was carried out.
    text = f'form = "short"\n{text}' if is_short else text
    return parse_plan(text, name=path.name, directory=path.resolve().parent)


def parse_plan(
    text: str, *, name: str, directory: Path, environ: Mapping[str, str] = os.environ
) -> Plan:
    """`name` stands in errors; `directory` is where other files are looked for."""
    if len(text) > PLAN_LIMIT:
        raise PlanError(f"{name} has {len(text)} characters; expected at most {PLAN_LIMIT}.")
    composition = Composition(Place(name), directory, environ)
    plan = read_table(composition.compose(read_toml(text, name)), Plan, Place(name))
    text = composition.with_sources(text)
    if len(text) > PLAN_LIMIT:
        raise PlanError(
            f"{name} has {len(text)} characters with the files it uses; expected at most "
            f"{PLAN_LIMIT}, so split it."
        )
    return _Completion(Place(name), directory, environ).complete(replace(plan, text=text))


class _Completion:
    """Fills in what a plan leaves to its surroundings, and remembers the environment's secrets."""

    def __init__(self, top: Place, directory: Path, environ: Mapping[str, str]) -> None:
        self._top = top
        self._directory = directory
        self._environ = environ
        self._secrets: set[str] = set()

    def complete(self, plan: Plan) -> Plan:
        at = self._top.at
        servers = _with_sides(
            [self._server(server, place) for server, place in self._items("servers", plan)]
        )
        services = [
            self._service(service, place) for service, place in self._items("services", plan)
        ]
        workloads = [
            self._workload(workload, place) for workload, place in self._items("workloads", plan)
        ]
        is_search = plan.max_rate is not None
        load = _with_usual_load(plan.load, is_search=is_search)
        _refuse(checks.check_load(load, is_search=is_search), at("load").subtable())
        if plan.max_rate is not None:
            _refuse(checks.check_max_rate(plan.max_rate), at("max_rate").subtable())
        plan = replace(
            plan,
            servers=tuple(servers),
            services=tuple(services),
            workloads=tuple(workloads),
            load=load,
            directory=self._directory,
            secrets=frozenset(secret for secret in self._secrets if secret),
        )
        _refuse(checks.check_plan(plan), self._top)
        return plan

    def _items(self, name: str, plan: Plan) -> Iterator[tuple[Any, Place]]:
        for number, record in enumerate(getattr(plan, name), 1):
            yield record, self._top.at(name).item(number)

    def _server(self, server: ServerSpec, place: Place) -> ServerSpec:
        _refuse(checks.check_server(server), place)
        environment = self._filled_texts(server.environment, place.at("environment"))
        return replace(server, environment=environment)

    def _service(self, service: ServiceSpec, place: Place) -> ServiceSpec:
        _refuse(checks.check_service(service), place)
        environment = self._filled_texts(service.environment, place.at("environment"))
        return replace(service, environment=environment)

    def _workload(self, workload: WorkloadSpec, place: Place) -> WorkloadSpec:
        workload = replace(
            workload,
            path=self._filled(workload.path, place.at("path")),
            headers=self._filled_texts(workload.headers, place.at("headers")),
            content=self._content(workload, place),
        )
        _refuse(checks.check_workload(workload), place)
        return workload

    def _filled(self, text: str, place: Place) -> str:
        try:
            return placeholders.fill_environment(text, self._environ, self._secrets)
        except KeyError as error:
            raise place.wrong(
                f"needs the environment variable {error.args[0]}, which is not set."
            ) from error

    def _filled_texts(self, texts: Mapping[str, str], place: Place) -> dict[str, str]:
        return {name: self._filled(text, place.member(name)) for name, text in texts.items()}

    def _content(self, workload: WorkloadSpec, place: Place) -> bytes | None:
        if workload.body is not None:
            return self._filled(workload.body, place.at("body")).encode()
        if workload.body_file is None:
            return None
        path = self._directory / workload.body_file
        try:
            if path.stat().st_size > BODY_LIMIT:
                raise place.error(f"body_file {path} is larger than {BODY_LIMIT} bytes.")
            return path.read_bytes()
        except OSError as error:
            raise place.error(f"body_file {path} cannot be read ({error.strerror}).") from error


def _with_sides(servers: Sequence[ServerSpec]) -> list[ServerSpec]:
    """The servers; where two share name and variant, the first is side A, the second side B."""
    keys = [server.key for server in servers]
    return [
        replace(server, side=SIDES[keys[:place].count(server.key)])
        if keys.count(server.key) > 1
        else server
        for place, server in enumerate(servers)
    ]


def _with_usual_load(load: LoadSpec, *, is_search: bool) -> LoadSpec:
    """Connections and duration where the plan names neither them nor what replaces them."""
    if not (load.connections or load.rates or is_search):
        load = replace(load, connections=USUAL_CONNECTIONS)
    if load.requests is None and load.duration_s is None:
        load = replace(load, duration_s=USUAL_DURATION_S)
    return load


def _refuse(sentences: Iterator[str], place: Place) -> None:
    sentence = next(sentences, None)
    if sentence is not None:
        raise place.error(sentence)
