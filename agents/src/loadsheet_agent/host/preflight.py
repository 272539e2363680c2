"""What would spoil a measurement on this machine. Pure: computed from the host's facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

# A closed connection keeps its port this long: TIME_WAIT, which Linux cannot change.
TIME_WAIT_S = 60
# Files a load tool has open besides its connections.
OWN_FILES = 50
SPOILS, WARNS, GOOD, UNKNOWN = "spoils", "warns", "good", "unknown"


@dataclass(frozen=True)
class Finding:
    """The result of one check, and what to do where it is not good."""

    id: str
    level: str
    text: str
    advice: str = ""


@dataclass(frozen=True)
class Needs:
    """What a plan needs of the machine; None: no plan was given."""

    connections: int | None = None
    keepalive: bool | None = None
    seconds: float | None = None
    same_host: bool | None = None
    threads: int | None = None


def examine(facts: Mapping[str, Any], cores: int | None, needs: Needs) -> list[Finding]:
    """Every check, in order of how often it spoils a measurement."""
    return [
        _load(facts, cores),
        _open_files(facts, needs),
        _ports(facts, needs),
        _backlog(facts, needs),
        _time_wait(facts),
        _governor(facts),
        _quota(facts, cores),
        _virtual(facts),
        *_roles(cores, needs),
        *_length(needs),
    ]


def _load(facts: Mapping[str, Any], cores: int | None) -> Finding:
    load = facts.get("load_average_1m")
    if load is None or not cores:
        return Finding("load", UNKNOWN, "the load of this machine is unknown")
    text = f"load average {load:g} on {cores} cores"
    if load <= 0.25 * cores:
        return Finding("load", GOOD, text)
    level = SPOILS if load > cores else WARNS
    return Finding("load", level, text, "find what else runs here (top) and end it first")


def _open_files(facts: Mapping[str, Any], needs: Needs) -> Finding:
    limit = facts.get("ulimit_nofile_soft")
    wanted = (needs.connections or 1000) + OWN_FILES
    if limit is None:
        return Finding("open-files", UNKNOWN, "there is no limit of open files, or it is unknown")
    text = f"{limit} files may be open, {wanted} are needed"
    if limit >= wanted:
        return Finding("open-files", GOOD, text)
    level = WARNS if needs.connections is None else SPOILS
    return Finding("open-files", level, text, f"run `ulimit -n {wanted}` in this shell first")


def _ports(facts: Mapping[str, Any], needs: Needs) -> Finding:
    words = str(facts.get("ip_local_port_range") or "").split()
    if len(words) != 2 or not all(word.isdigit() for word in words):
        return Finding("ports", UNKNOWN, "the range of client ports is unknown")
    count = int(words[1]) - int(words[0]) + 1
    text = f"{count} client ports, enough for {count // TIME_WAIT_S} new connections a second"
    if needs.keepalive is not False or count >= 60_000:
        return Finding("ports", GOOD, text)
    advice = 'run `sysctl -w net.ipv4.ip_local_port_range="1024 65535"` as root'
    return Finding("ports", WARNS, text + "; the plan opens one for each request", advice)


def _backlog(facts: Mapping[str, Any], needs: Needs) -> Finding:
    limit = str(facts.get("somaxconn") or "")
    if not limit.isdigit():
        return Finding("backlog", UNKNOWN, "the longest accept queue (somaxconn) is unknown")
    text = f"somaxconn is {limit}"
    if needs.connections is None or int(limit) >= needs.connections:
        return Finding("backlog", GOOD, text)
    text += f", the plan opens {needs.connections} connections at once"
    advice = f"run `sysctl -w net.core.somaxconn={needs.connections}` on the server's machine"
    return Finding("backlog", WARNS, text, advice)


def _time_wait(facts: Mapping[str, Any]) -> Finding:
    waiting = facts.get("time_wait")
    if waiting is None:
        return Finding("time-wait", UNKNOWN, "sockets in TIME_WAIT are unknown")
    text = f"{waiting} sockets in TIME_WAIT"
    if waiting < 1000:
        return Finding("time-wait", GOOD, text)
    return Finding("time-wait", WARNS, text, f"wait {TIME_WAIT_S} s for them to go")


def _governor(facts: Mapping[str, Any]) -> Finding:
    governor = facts.get("cpu_governor")
    if governor is None:
        return Finding("governor", UNKNOWN, "the CPU governor is unknown")
    if governor == "performance":
        return Finding("governor", GOOD, "CPU governor is performance")
    advice = "run `cpupower frequency-set -g performance` as root"
    return Finding("governor", WARNS, f"CPU governor is {governor}", advice)


def _quota(facts: Mapping[str, Any], cores: int | None) -> Finding:
    words = str(facts.get("cgroup_cpu_max") or "").split()
    allowed = facts.get("cpus_allowed")
    if len(words) == 2 and words[0].isdigit() and words[1].isdigit():
        share = int(words[0]) / int(words[1])
        text = f"a container limit allows {share:g} CPUs of {cores}"
        return Finding("quota", WARNS, text, "measure outside the container, or note it in a label")
    if allowed is not None and cores is not None and allowed < cores:
        return Finding("quota", WARNS, f"only {allowed} of {cores} CPUs are allowed here")
    if not words and allowed is None:
        return Finding("quota", UNKNOWN, "whether CPU is limited here is unknown")
    return Finding("quota", GOOD, "no CPU limit")


def _virtual(facts: Mapping[str, Any]) -> Finding:
    kind = facts.get("virtualisation")
    if kind is None:
        return Finding("virtual", UNKNOWN, "whether this is a virtual machine is unknown")
    if kind == "none":
        return Finding("virtual", GOOD, "not a virtual machine")
    advice = "other virtual machines may take CPU: use more repeats and look at client_cpu_steal"
    return Finding("virtual", WARNS, f"this is a virtual machine ({kind})", advice)


def _roles(cores: int | None, needs: Needs) -> Iterator[Finding]:
    if needs.same_host is None:
        return
    if not needs.same_host:
        yield Finding("one-machine", GOOD, "client and server are two machines")
        return
    advice = "measure from a second machine where absolute figures matter"
    yield Finding("one-machine", WARNS, "client and servers share this machine", advice)
    if cores is not None and needs.threads is not None and needs.threads >= cores:
        text = f"the load tool takes {needs.threads} threads of {cores} cores"
        yield Finding("cores", WARNS, text, "leave cores to the server: lower threads")


def _length(needs: Needs) -> Iterator[Finding]:
    if needs.seconds is not None and needs.seconds < 5:
        text = f"trials of {needs.seconds:g} s are short"
        yield Finding("length", WARNS, text, "use duration_s = 10 or more, and a warm-up")


def is_unfit(findings: list[Finding]) -> bool:
    return any(finding.level == SPOILS for finding in findings)
