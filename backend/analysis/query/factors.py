"""What results may differ in, and what each difference means.

A field of a comparison is a factor by its entry in the table of fields. A detail that no link asks
for, such as a request header or a kernel, is a line in the tables here.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from backend.analysis.query.field import Field, Rule, reader_of
from backend.analysis.query.fields import FIELDS
from backend.analysis.query.records import LoadedCell, LoadedHost


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
    read: Callable[[LoadedCell], object]


def _server_host(name: str) -> Callable[[LoadedCell], object]:
    return lambda cell: _of_host(cell.series.server_host, name)


def _client_host(name: str) -> Callable[[LoadedCell], object]:
    return lambda cell: _of_host(cell.series.client_host, name)


def _of_host(host: LoadedHost | None, name: str) -> object:
    return None if host is None else getattr(host, name)


def _headers(cell: LoadedCell) -> object:
    return tuple(sorted((name, str(value)) for name, value in cell.workload.headers.items()))


def _host_factor(
    id_: str, name: str, word: str, short: str, rule: Rule, *, client: bool = False
) -> Factor:
    whose = "client" if client else "server"
    read = _client_host(name) if client else _server_host(name)
    return Factor(id_, f"{word} of the {whose} host", rule, f"{whose}_host", short, read)


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
        Factor(
            "method", "request method", "must", "request", "method", lambda c: c.workload.method
        ),
        Factor("path", "request path", "must", "workload", "path", lambda c: c.workload.path),
    ),
    "payload": (
        Factor(
            "keepalive",
            "keep-alive",
            "must",
            "request",
            "keep-alive",
            lambda c: c.workload.keepalive,
        ),
        Factor("tls", "TLS", "must", "request", "TLS", lambda c: c.workload.tls),
        Factor("headers", "request headers", "must", "request", "headers", _headers),
        Factor("body", "request body", "must", "request", "body", lambda c: c.workload.body_sha256),
    ),
}
_HOSTS = (
    _host_factor("cpu", "cpu_model", "processor", "processor", "axis"),
    _host_factor("cores", "cores", "cores", "number of cores", "axis"),
    Factor(
        "virtualisation",
        "virtualisation",
        "axis",
        "server_host",
        "virtualisation",
        _server_host("virtualisation"),
    ),
    _host_factor("client_cpu", "cpu_model", "processor", "client processor", "axis", client=True),
    _host_factor("client_cores", "cores", "cores", "client cores", "axis", client=True),
    Factor(
        "same_host",
        "client on the server host",
        "axis",
        "client_host",
        "placement of the client",
        lambda c: c.run.same_host,
    ),
    _host_factor("kernel", "kernel", "kernel", "kernel", "note"),
    Factor("os", "operating system", "note", "server_host", "operating system", _server_host("os")),
    _host_factor("memory", "memory_bytes", "memory", "memory", "note"),
    Factor("host", "server host", "note", "server_host", "server host", _server_host("name")),
    _host_factor("client_kernel", "kernel", "kernel", "client kernel", "note", client=True),
    Factor(
        "governor",
        "CPU governor of the server host",
        "note",
        "server_host",
        "CPU governor",
        lambda c: c.run.server_governor,
    ),
    Factor(
        "client_governor",
        "CPU governor of the client host",
        "note",
        "client_host",
        "client CPU governor",
        lambda c: c.run.client_governor,
    ),
    Factor(
        "client_host", "client host", "note", "client_host", "client host", _client_host("name")
    ),
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
