"""What results may differ in, and what each difference means.

A field of a comparison is a factor by its entry in the table of fields. A detail that no link asks
for, such as a request header or a kernel, is a line in the tables here.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from backend.analysis.query.field import Field, Rule, reader_of
from backend.analysis.query.fields import FIELDS
from backend.analysis.query.records import LoadedCell

Reader = Callable[[LoadedCell], object]


@dataclass(frozen=True, slots=True)
class Factor:
    """One thing that may differ: how it is read, and by `rule` what a difference means.

    `part`: the part of the identity it is of. `short`: its word where it is the only difference.
    """

    id: str
    word: str
    rule: Rule
    part: str
    short: str
    read: Reader


def _headers(cell: LoadedCell) -> object:
    return tuple(sorted((name, str(value)) for name, value in cell.workload.headers.items()))


def _of_workload(id_: str, part: str, word: str, read: Reader, short: str = "") -> Factor:
    return Factor(id_, word, "must", part, short or word, read)


def _server(name: str) -> Reader:
    return lambda cell: cell.series.server_host and getattr(cell.series.server_host, name)


def _client(name: str) -> Reader:
    return lambda cell: cell.series.client_host and getattr(cell.series.client_host, name)


def _run(name: str) -> Reader:
    return lambda cell: getattr(cell.run, name)


def _of_host(id_: str, rule: Rule, role: str, read: Reader, short: str, fact: str = "") -> Factor:
    """`role`: server or client. `fact`: what a sentence calls the fact of the host of this role,
    where that is not `short`."""
    word = f"{fact} of the {role} host" if fact else short
    return Factor(id_, word, rule, f"{role}_host", short, read)


def _of_field(field: Field) -> Factor:
    if field.rule is None:
        raise ValueError(f"{field.id} has no rule")
    read = field.judge or reader_of(field)
    return Factor(field.id, field.noun, field.rule, field.identity, field.noun, read)


def _of_fields(rule: Rule) -> tuple[Factor, ...]:
    return tuple(_of_field(field) for field in FIELDS.values() if field.rule == rule)


# Further factors of a field. A page lists them after the field.
_DETAILS = {
    "workload": (
        _of_workload("method", "request", "request method", lambda c: c.workload.method, "method"),
        _of_workload("path", "workload", "request path", lambda c: c.workload.path, "path"),
    ),
    "payload": (
        _of_workload("keepalive", "request", "keep-alive", lambda c: c.workload.keepalive),
        _of_workload("tls", "request", "TLS", lambda c: c.workload.tls),
        _of_workload("headers", "request", "request headers", _headers, "headers"),
        _of_workload("body", "request", "request body", lambda c: c.workload.body_sha256, "body"),
    ),
}
_HOSTS = (
    _of_host("cpu", "axis", "server", _server("cpu_model"), "processor", "processor"),
    _of_host("cores", "axis", "server", _server("cores"), "number of cores", "cores"),
    _of_host("virtualisation", "axis", "server", _server("virtualisation"), "virtualisation"),
    _of_host("client_cpu", "axis", "client", _client("cpu_model"), "client processor", "processor"),
    _of_host("client_cores", "axis", "client", _client("cores"), "client cores", "cores"),
    Factor(
        id="same_host",
        word="client on the server host",
        rule="axis",
        part="client_host",
        short="placement of the client",
        read=_run("same_host"),
    ),
    _of_host("kernel", "note", "server", _server("kernel"), "kernel", "kernel"),
    _of_host("os", "note", "server", _server("os"), "operating system"),
    _of_host("memory", "note", "server", _server("memory_bytes"), "memory", "memory"),
    _of_host("host", "note", "server", _server("name"), "server host"),
    _of_host("client_kernel", "note", "client", _client("kernel"), "client kernel", "kernel"),
    _of_host("governor", "note", "server", _run("server_governor"), "CPU governor", "CPU governor"),
    _of_host(
        "client_governor",
        "note",
        "client",
        _run("client_governor"),
        short="client CPU governor",
        fact="CPU governor",
    ),
    _of_host("client_host", "note", "client", _client("name"), "client host"),
)


def _of_hosts(rule: Rule) -> tuple[Factor, ...]:
    return tuple(factor for factor in _HOSTS if factor.rule == rule)


FACTORS = (
    *(
        factor
        for of_field in _of_fields("must")
        for factor in (of_field, *_DETAILS.get(of_field.id, ()))
    ),
    *_of_fields("axis"),
    *_of_hosts("axis"),
    *_of_fields("note"),
    *_of_hosts("note"),
)
# What a workspace may choose to demand or to let pass, and what it demands unless it chose.
HOST_FACTORS = {factor.id: factor for factor in _HOSTS}
DEFAULT_MUST_MATCH = tuple(factor.id for factor in _of_hosts("axis"))


@dataclass(frozen=True, slots=True)
class MustMatch:
    """`facts`: of the hosts, by the choice of the workspace. `may_differ`: factors that the asker
    lets differ all the same."""

    facts: Collection[str] = DEFAULT_MUST_MATCH
    may_differ: Collection[str] = ()

    def apply(self, factor: Factor) -> Factor:
        """The factor under both choices."""
        if factor.id in self.may_differ:
            return replace(factor, rule="note")
        if factor.id not in HOST_FACTORS:
            return factor
        return replace(factor, rule="axis" if factor.id in self.facts else "note")


# Several of these differ together when one machine is exchanged for another: one dimension.
MACHINE = frozenset(HOST_FACTORS) - {"same_host"}
# What is under test, the coarsest first: a server of another name has its own versions. A date
# comes last: it means nothing alone.
TESTED = tuple(sorted(_of_fields("test"), key=lambda factor: factor.id == "date"))
# What a reader chooses one of, where a factor must not differ.
REMEDIES = {
    **{field.id: field.remedy for field in FIELDS.values() if field.remedy},
    **{factor.id: factor.short for factor in TESTED},
    **dict.fromkeys(MACHINE, "host"),
}


def chosen_factors(given: Collection[str]) -> list[str] | None:
    """The ids among `given` as a workspace stores them; None for the defaults, which may change
    with the project.
    """
    chosen = [name for name in HOST_FACTORS if name in given]
    return None if set(chosen) == set(DEFAULT_MUST_MATCH) else chosen
