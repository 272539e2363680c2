"""The services of a plan: started before the first trial, stopped after the last."""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from loadsheet_agent.errors import ServerStartError
from loadsheet_agent.plan.server_spec import ServiceSpec
from loadsheet_agent.run.program import Program
from loadsheet_agent.run.sampling import Tree

POLL_S = 0.1


@dataclass
class Services:
    """`problems` says by name why a service does not run."""

    programs: Mapping[str, tuple[ServiceSpec, Program]]
    problems: dict[str, str] = field(default_factory=dict)

    def start(self) -> None:
        """Start every service; a failure is in `problems`, and its servers say it."""
        for name, (spec, program) in self.programs.items():
            try:
                _start(spec, program)
            except ServerStartError as error:
                program.stop()
                self.problems[name] = f"its service {name!r} does not run: {error}"

    def problem_for(self, names: tuple[str, ...]) -> str | None:
        """Why a server that needs these services cannot run, or None."""
        return next((self.problems[name] for name in names if name in self.problems), None)

    def trees(self) -> list[Tree]:
        """The processes of every service that runs."""
        trees = (program.tree() for _, program in self.programs.values())
        return [tree for tree in trees if tree is not None]

    def stop(self) -> None:
        """Stop every service and run its teardown."""
        for _, program in self.programs.values():
            program.finish()


def _start(spec: ServiceSpec, program: Program) -> None:
    program.start()
    deadline = time.monotonic() + spec.ready_timeout_s
    while not _is_ready(spec, program):
        if program.exit_code() is not None:
            raise ServerStartError(f"it ended with code {program.exit_code()}{program.log_line()}")
        if time.monotonic() > deadline:
            raise ServerStartError(
                f"it was not ready within {spec.ready_timeout_s:g} s{program.log_line()}"
            )
        time.sleep(POLL_S)
    program.run_commands(spec.after_ready)


def _is_ready(spec: ServiceSpec, program: Program) -> bool:
    if spec.ready is not None:
        return program.succeeds(spec.ready, spec.ready_timeout_s)
    try:
        socket.create_connection(("127.0.0.1", int(program.words["port"])), timeout=1).close()
    except OSError:
        return False
    return True
