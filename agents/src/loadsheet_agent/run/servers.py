"""The servers of a plan: start, wait until ready, watch, stop."""

from __future__ import annotations

import itertools
import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from loadsheet_agent.errors import ServerStartError
from loadsheet_agent.plan import placeholders
from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.plan.server_spec import ProgramSpec, ServerKey, ServerSpec
from loadsheet_agent.plan.workload_spec import WorkloadSpec
from loadsheet_agent.programs import ask
from loadsheet_agent.run.backing_services import Services
from loadsheet_agent.run.free_ports import free_ports
from loadsheet_agent.run.probe import Answer, Probe
from loadsheet_agent.run.program import Places, Program

POLL_S = 0.05
# A server that will not start costs its ready timeout each time; more tries prove nothing.
START_TRIES = 2
# After a trial, a server may still work off what waits in its queue.
ANSWER_LIMIT_S = 15.0


class ManagedServer:
    """One server of the plan: started at first need, or running already and only probed."""

    def __init__(
        self, spec: ServerSpec, program: Program, services: Services, starts: Iterator[int]
    ) -> None:
        """`starts` numbers the starts of all servers of a run."""
        self.spec = spec
        self.program = program
        self.services = services
        self.version = spec.version and placeholders.fill(spec.version, program.words)
        if spec.version_command:
            self.version = _ask_version(program.fill_all(spec.version_command), program)
        program.words = {**program.words, "version": self.version or "unknown"}
        self.texts = {
            name: text and placeholders.fill(text, program.words)
            for name, text in spec.texts.items()
        }
        self.url = placeholders.fill(spec.url, program.words).rstrip("/")
        self._probe = Probe(self.url, spec.verify_tls)
        self._answers: dict[str, Answer | None] = {}
        self._failed_starts = 0
        self._starts = starts
        # Which start of a server in this run its process comes from; None if the plan did not
        # start it.
        self.start: int | None = None

    def ensure_ready(self) -> None:
        """Start the server unless it runs, and wait until it answers. Raises ServerStartError."""
        problem = self.services.problem_for(self.spec.services)
        if problem is not None:
            raise ServerStartError(f"server {self.spec.label!r} was not started: {problem}")
        if self._failed_starts >= START_TRIES:
            raise ServerStartError(
                f"server {self.spec.label!r} was not tried again after {START_TRIES} failed starts"
            )
        if self.program.is_running:
            return
        try:
            self._start()
        except ServerStartError:
            self.program.stop()
            self._failed_starts += 1
            raise
        self._failed_starts = 0

    def _start(self) -> None:
        self.program.stop()
        self.program.start()
        if self.program.is_startable:
            self.start = next(self._starts)
        self._wait_until_ready()

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + self.spec.ready_timeout_s
        while True:
            self._raise_if_ended()
            status = self._probe.status(self.spec.ready_path)
            if status is not None and self.spec.ready_status in (None, status):
                return
            if time.monotonic() > deadline:
                raise ServerStartError(self._unready_text(status))
            time.sleep(POLL_S)

    def _unready_text(self, status: int | None) -> str:
        url = self.url + ("" if self.spec.ready_path == "/" else self.spec.ready_path)
        state = "did not answer"
        if status is not None:
            state = f"answered {status}, not {self.spec.ready_status},"
        return (
            f"server {self.spec.label!r} {state} at {url} within "
            f"{self.spec.ready_timeout_s:g} s{self.program.log_line()}"
        )

    def _raise_if_ended(self) -> None:
        exit_code = self.program.exit_code()
        if exit_code is not None:
            raise ServerStartError(
                f"server {self.spec.label!r} ended with exit code {exit_code} before it was "
                f"ready{self.program.log_line()}"
            )

    def answer(self, workload: WorkloadSpec) -> Answer | None:
        """Its answer to the workload, asked for once.

        None if a request may change data, and the plan expects nothing of its answer. Raises
        ServerStartError where the server's certificate cannot be verified.
        """
        if workload.method not in ("GET", "HEAD") and not workload.is_answer_expected:
            return None
        if workload.name not in self._answers:
            self._answers[workload.name] = self._probe.answer(workload)
        return self._answers[workload.name]

    def is_answering(self) -> bool:
        """Whether it answers a request within ANSWER_LIMIT_S."""
        deadline = time.monotonic() + ANSWER_LIMIT_S
        try:
            while self._probe.status(self.spec.ready_path) is None:
                if time.monotonic() > deadline:
                    return False
                time.sleep(POLL_S)
        except ServerStartError:
            pass  # it answers, with a certificate that is not trusted
        return True


@dataclass(frozen=True)
class Workplace:
    """Where the programs of a run work.

    `words` by service name or server key: what its installation means. `ports` are free, and all
    different.
    """

    runs: Path
    logs: Path
    words: Mapping[object, Mapping[str, str]]
    ports: Iterator[int]

    @classmethod
    def of_plan(
        cls, plan: Plan, runs: Path, logs: Path, words: Mapping[object, Mapping[str, str]]
    ) -> Workplace:
        """With as many free ports as the plan needs."""
        count = sum(1 + len(spec.ports) for spec in (*plan.services, *plan.servers))
        return cls(runs, logs, words, iter(free_ports(count)))

    def port_words(self, spec: ProgramSpec) -> dict[str, str]:
        """{port} and the named ports of one program."""
        named = {f"port:{name}": str(next(self.ports)) for name in spec.ports}
        return {"port": str(next(self.ports)), **named}

    def program(
        self, spec: ProgramSpec, label: str, words: Mapping[str, str], name: str
    ) -> Program:
        """Its folder is named by `name`, its log by `name` and its label."""
        run = self.runs / name
        run.mkdir(parents=True, exist_ok=True)
        readable = re.sub(r"[^\w@.-]+", "-", label)[:60]
        places = Places(Path(words["here"]), run, self.logs / f"{name}-{readable}.log")
        return Program(spec, label, words, places)


@contextmanager
def running_servers(
    plan: Plan,
    words: Mapping[object, Mapping[str, str]],
    logs: Path | None = None,
    next_start: int = 1,
) -> Iterator[Mapping[ServerKey, ManagedServer]]:
    """The plan's servers by their key, with its services started; all are stopped at the end.

    `words`: see Workplace. `logs` is where their output stays; None: nowhere. Starts of servers are
    numbered from `next_start`.
    """
    with tempfile.TemporaryDirectory(prefix="loadsheet-") as name:
        folder = Path(name)
        # A server that runs as another user writes into its own folder in there.
        folder.chmod(0o711)
        place = Workplace.of_plan(plan, folder, logs or folder, words)
        services = _prepare_services(plan, place)
        servers: Mapping[ServerKey, ManagedServer] = {}
        try:
            services.start()
            servers = _prepare_servers(plan, place, services, itertools.count(next_start))
            yield servers
        finally:
            for server in servers.values():
                server.program.finish()
            services.stop()


def _prepare_services(plan: Plan, place: Workplace) -> Services:
    """The plan's services by name; none is started yet."""
    constant = placeholders.constant_words(str(plan.directory))
    programs = {}
    for number, spec in enumerate(plan.services, 1):
        words = {**constant, **place.port_words(spec), **place.words.get(spec.name, {})}
        program = place.program(spec, spec.label, words, f"service-{number}")
        programs[spec.name] = (spec, program)
    return Services(programs)


def _prepare_servers(
    plan: Plan, place: Workplace, services: Services, starts: Iterator[int]
) -> dict[ServerKey, ManagedServer]:
    """The plan's servers by their key; none is started yet. `starts` numbers their starts."""
    constant = placeholders.constant_words(str(plan.directory))
    for name, (_, program) in services.programs.items():
        constant[f"{name}.port"] = program.words["port"]
    servers = {}
    for number, spec in enumerate(plan.servers, 1):
        own = {**place.port_words(spec), **_number_words(spec), **place.words.get(spec.key, {})}
        program = place.program(spec, spec.label, {**constant, **own}, f"server-{number}")
        servers[spec.key] = ManagedServer(spec, program, services, starts)
    return servers


def _number_words(spec: ServerSpec) -> dict[str, str]:
    numbers = {"workers": spec.workers, "backlog": spec.backlog}
    return {name: str(number) for name, number in numbers.items() if number is not None}


def _ask_version(argv: tuple[str, ...], program: Program) -> str | None:
    """The first version number the command prints, else its first line, else unknown."""
    done = ask(argv, cwd=program.directory, env=program.environ)
    if done is None or done.returncode != 0:
        return None
    printed = done.stdout.strip() or done.stderr.strip()
    match = re.search(r"\d+(?:\.\d+)+[\w.+-]*", printed)
    first_line = printed.partition("\n")[0].strip()
    return (match.group(0) if match else first_line)[:200] or None
