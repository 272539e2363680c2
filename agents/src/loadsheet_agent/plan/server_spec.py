"""Programs of a plan as records: the servers to measure, and the services they need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, make_dataclass, replace
from typing import TYPE_CHECKING, Any, Optional

from loadsheet_agent.plan.keys import (
    Arguments,
    Commands,
    Flag,
    Integer,
    Integers,
    Matrix,
    Names,
    Number,
    NumberedNames,
    Numbers,
    Scalars,
    Text,
    Texts,
    key,
)
from loadsheet_agent.plan.server_texts import SERVER_TEXTS
from loadsheet_agent.plan.toml_table import Subtable, Tables
from loadsheet_agent.plan.workload_spec import PATH_LIMIT, WorkloadSpec

# Name, variant and side.
ServerKey = tuple[str, Optional[str], Optional[str]]
# The limits of setrlimit(2) that decide how many connections a server holds.
ULIMITS = ("nofile", "nproc", "stack", "as", "core", "memlock")


@dataclass(frozen=True)
class SourceSpec:
    """What a program is installed from and is in no package: a file or a commit of a repository."""

    url: str = key(
        Text(limit=1000, pattern="^https?://"),
        "Address of a file, or of a git repository (https only).",
        example='"https://example.org/server-1.0.tar.gz"',
    )
    sha256: str | None = key(
        Text(limit=64, pattern="^[0-9a-f]{64}$"),
        "SHA-256 of the file's bytes, in hexadecimal digits.",
        default=None,
    )
    commit: str | None = key(
        Text(limit=40, pattern="^[0-9a-f]{40}$"),
        "Whole id of a commit of the repository, which git compares with its files.",
        default=None,
    )

    @property
    def label(self) -> str:
        """Name of its file or its folder in {install}."""
        name = self.url.rpartition("/")[2]
        return name if self.commit is None else name.removesuffix(".git")

    @property
    def digest(self) -> str:
        """The hash that decides its content."""
        return self.sha256 or self.commit or ""


@dataclass(frozen=True)
class ProgramSpec:
    """How to install, start and stop a program."""

    interpreter: str | None = key(
        Text(),
        "Python that `packages` are installed for, such as 3.11. {interpreter} is its path.",
        default=None,
    )
    packages: tuple[str, ...] = key(
        Names(), "Packages for pip, with exact versions. Installed into {install}.", default=()
    )
    lock: str | None = key(
        Text(limit=1000),
        "File with every package and its SHA-256, as pip reads it with --require-hashes.",
        default=None,
    )
    source: tuple[SourceSpec, ...] = key(
        Tables(
            SourceSpec,
            example="[[servers.source]] url = …",
            exclusive=(("sha256", "commit"),),
        ),
        "Files and commits of git repositories to download into {install}, each with its hash. "
        "Without them, the server is skipped.",
        default=(),
    )
    install: tuple[tuple[str, ...], ...] = key(
        Commands(),
        "Commands that install the program into {install}, after `source` and `packages`.",
        default=(),
    )
    programs: Mapping[str, str] = key(
        Texts(),
        "Programs that must be on the PATH, or files by their whole path, each with how to get it. "
        "Without them, the server is skipped.",
        default={},
    )
    unavailable: str | None = key(
        Text(limit=1000), "Why the program is not available; it is then skipped.", default=None
    )
    start: tuple[str, ...] | None = key(
        Arguments(),
        "Command that starts the server; leave it out for a server that already runs. "
        "A list of arguments; no shell reads it.",
        default=None,
    )
    stop: tuple[str, ...] | None = key(
        Arguments(),
        "Command that stops the server before SIGTERM is sent; for a start that leaves a daemon. "
        "A list of arguments; no shell reads it.",
        default=None,
    )
    setup: tuple[tuple[str, ...], ...] = key(
        Commands(), "Commands before the first start.", default=()
    )
    teardown: tuple[tuple[str, ...], ...] = key(
        Commands(), "Commands after the last stop.", default=()
    )
    environment: Mapping[str, str] = key(
        Texts(), "Environment variables of the started server.", default={}
    )
    ports: tuple[str, ...] = key(
        Names(), "Names of further ports; {port:NAME} is a free loopback port.", default=()
    )
    templates: Mapping[str, str] = key(
        Texts(),
        "Files to write into {run} before the start, each with its template. Words in braces are "
        "filled in.",
        default={},
    )
    cwd: str | None = key(
        Text(limit=1000), "Directory the program starts in; else the plan's.", default=None
    )
    user: str | None = key(
        Text(),
        "User the program runs as where the agent is root; else it runs as the agent's user.",
        default=None,
    )
    cpus: tuple[int, ...] = key(
        Integers(least=0), "Numbers of the processors the program may use.", default=()
    )
    ulimit: Mapping[str, int] = key(
        NumberedNames(ULIMITS), "Limits of the program, such as { nofile = 65536 }.", default={}
    )
    ready_timeout_s: float = key(
        Number(least=0.1), "Seconds to wait until the server is ready.", default=15.0
    )


@dataclass(frozen=True)
class ServiceSpec(ProgramSpec):
    """A program beside the servers, such as a database: it runs during the whole plan."""

    name: str = key(Text(), "Name of the service.", example='"db"', default="", is_required=True)
    ready: tuple[str, ...] | None = key(
        Arguments(),
        "Command that ends with 0 once the service is ready; else its {port} is asked.",
        default=None,
    )
    after_ready: tuple[tuple[str, ...], ...] = key(
        Commands(), "Commands once it is ready, such as one that makes a table.", default=()
    )

    @property
    def label(self) -> str:
        """How messages call this service."""
        return self.name


@dataclass(frozen=True)
class ServerLoadSpec:
    """The load of one server, where it differs from the plan's."""

    connections: tuple[int, ...] = key(
        Integers(), "Closed loop: numbers of connections of this server.", default=()
    )
    rates: tuple[float, ...] = key(
        Numbers(), "Open loop: offered rates of this server.", default=()
    )
    duration_s: float | None = key(Number(above=0), "Seconds a trial takes.", default=None)
    requests: int | None = key(
        Integer(least=1), "Requests of a trial, instead of a duration.", default=None
    )
    longest_s: float | None = key(
        Number(least=1), "Most seconds a trial with a number of requests may take.", default=None
    )


# The keys of a server that SERVER_TEXTS has.
if TYPE_CHECKING:

    class _ServerTexts: ...

else:
    _ServerTexts = make_dataclass(
        "_ServerTexts",
        [
            (name, Optional[str], key(Text(), text.description, default=None))
            for name, text in SERVER_TEXTS.items()
        ],
        frozen=True,
    )


@dataclass(frozen=True)
class ServerSpec(_ServerTexts, ProgramSpec):
    """One server: started by the plan, or running already."""

    name: str = key(
        Text(), "Name of the server.", example='"gunicorn sync"', default="", is_required=True
    )
    url: str = key(
        Text(pattern="^https?://"),
        "Address of the server, without a path. {port} is a free loopback port.",
        example='"http://127.0.0.1:{port}"',
        default="",
        is_required=True,
    )
    use: str | None = key(
        Text(),
        "A server of the shelf, such as tornado@0.2,current. Other keys replace the shelf's.",
        default=None,
    )
    matrix: Mapping[str, Any] = key(
        Matrix(),
        "Values by key, such as { workers = [1, 2] }: one server for each combination. {KEY} is "
        "its value in every text. A name that is no key becomes configuration.",
        default={},
    )
    variant: str | None = key(
        Text(), "Tells servers of one name apart in messages; made by use and matrix.", default=None
    )
    verify_tls: bool = key(
        Flag(),
        "Whether the certificate of an https server is verified before its trials. Load tools "
        "never verify it; nor does the agent on loopback.",
        default=True,
    )
    version: str | None = key(Text(), "Version of the server.", default=None)
    version_command: tuple[str, ...] | None = key(
        Arguments(),
        "Command that prints the version, once the server is installed. "
        "A list of arguments; no shell reads it.",
        default=None,
    )
    configuration: Mapping[str, Any] = key(
        Scalars(), "Settings that decide the server's speed; part of what is compared.", default={}
    )
    workers: int | None = key(
        Integer(least=1),
        "Processes of the server: {workers} in its texts, and part of its configuration.",
        default=None,
    )
    backlog: int | None = key(
        Integer(least=1),
        "Length of its accept queue: {backlog} in its texts, and part of its configuration.",
        default=None,
    )
    services: tuple[str, ...] = key(
        Names(), "Names of the services it needs; {NAME.port} is a service's port.", default=()
    )
    workloads: tuple[str, ...] = key(
        Names(), "Names of the workloads it is measured with; else all.", default=()
    )
    paths: Mapping[str, str] = key(
        Texts(), "Paths by workload, where they differ from the workload's.", default={}
    )
    load: ServerLoadSpec = key(
        Subtable(ServerLoadSpec, exclusive=(("duration_s", "requests"),)),
        "Load of this server, where it differs from the plan's.",
        default=ServerLoadSpec(),
    )
    announces_close: bool = key(
        Flag(),
        "false: it closes connections without saying so in its answer. wrk counts each of its "
        "answers as a read error then, so another load tool is chosen.",
        default=True,
    )
    ready_path: str = key(
        Text(limit=PATH_LIMIT, pattern="^/"),
        "Path that is requested until the server answers.",
        default="/",
    )
    ready_status: int | None = key(
        Integer(least=100), "Status of a ready server; without it any status will do.", default=None
    )
    # A or B, where the plan has this server twice; never part of what the server is.
    side: str | None = None

    @property
    def texts(self) -> dict[str, str | None]:
        """The values of SERVER_TEXTS by name."""
        return {name: getattr(self, name) for name in SERVER_TEXTS}

    @property
    def key(self) -> ServerKey:
        """Tells the servers of a plan apart."""
        return (self.name, self.variant, self.side)

    @property
    def label(self) -> str:
        """How messages call this server."""
        name = self.variant or self.name
        return name if self.side is None else f"{name} (side {self.side})"

    @property
    def recorded_configuration(self) -> dict[str, Any]:
        """Its configuration with workers and backlog, as far as its start uses them."""
        numbers = {"workers": self.workers, "backlog": self.backlog}
        used = {
            name: number
            for name, number in numbers.items()
            if number is not None and self._uses(name)
        }
        return {**used, **self.configuration}

    def _uses(self, word: str) -> bool:
        """Whether the word is in its start or environment, or may be in a template.

        A server that runs already is as the plan says.
        """
        texts = (*(self.start or ()), *self.environment.values())
        is_written = any("{" + word + "}" in text for text in texts)
        return self.start is None or bool(self.templates) or is_written

    def takes(self, workload: WorkloadSpec) -> bool:
        """Whether it is measured with the workload."""
        return not self.workloads or workload.name in self.workloads

    def adapt(self, workload: WorkloadSpec) -> WorkloadSpec:
        """The workload with this server's path."""
        path = self.paths.get(workload.name)
        return workload if path is None else replace(workload, path=path)
