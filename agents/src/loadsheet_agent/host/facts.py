"""Facts of this machine for a run's record. A fact that cannot be read is None."""

from __future__ import annotations

import hashlib
import os
import platform
import resource
import shutil
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from loadsheet_agent.programs import ask

# Recorded by the last part of the path: the sysctls of the study "Scaling Twisted Web" (2013), and
# those that limit how many connections a client can open.
SYSCTLS = (
    "fs/file-max",
    "fs/file-nr",
    "fs/pipe-max-size",
    "net/core/netdev_max_backlog",
    "net/core/optmem_max",
    "net/core/rmem_default",
    "net/core/rmem_max",
    "net/core/somaxconn",
    "net/core/wmem_default",
    "net/core/wmem_max",
    "net/ipv4/ip_local_port_range",
    "net/ipv4/tcp_congestion_control",
    "net/ipv4/tcp_fastopen",
    "net/ipv4/tcp_fin_timeout",
    "net/ipv4/tcp_low_latency",
    "net/ipv4/tcp_max_orphans",
    "net/ipv4/tcp_max_syn_backlog",
    "net/ipv4/tcp_mem",
    "net/ipv4/tcp_rmem",
    "net/ipv4/tcp_syncookies",
    "net/ipv4/tcp_tw_reuse",
    "net/ipv4/tcp_window_scaling",
    "net/ipv4/tcp_wmem",
)
CPU = "/sys/devices/system/cpu"


@dataclass(frozen=True)
class HostFacts:
    """`cores` are physical, `threads` logical; `facts` are all others, by name."""

    name: str
    cpu_model: str | None
    cores: int | None
    threads: int | None
    memory_bytes: int | None
    virtualisation: str | None
    os: str | None
    kernel: str | None
    facts: dict[str, Any]


def read_host(towards: str | None = None) -> HostFacts:
    """Facts of this machine; `towards`: the host that the described network interface leads to."""
    return HostFacts(
        name=socket.gethostname(),
        cpu_model=_cpu_model(),
        cores=psutil.cpu_count(logical=False),
        threads=psutil.cpu_count(logical=True),
        memory_bytes=psutil.virtual_memory().total,
        virtualisation=_virtualisation(),
        os=_os_name(),
        kernel=f"{platform.system()} {platform.release()}".strip() or None,
        facts={**_more_facts(), **_network(towards)},
    )


def _more_facts() -> dict[str, Any]:
    soft, hard = _limits(resource.RLIMIT_NOFILE)
    return {
        "hostname": socket.gethostname(),
        "architecture": platform.machine() or None,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "ulimit_nofile_soft": soft,
        "ulimit_nofile_hard": hard,
        "ulimit_nproc_soft": _limits(resource.RLIMIT_NPROC)[0],
        "cpu_governor": _text(f"{CPU}/cpu0/cpufreq/scaling_governor"),
        "cpu_mhz": _cpu_mhz(),
        "cpu_mhz_max": _kilohertz(f"{CPU}/cpu0/cpufreq/cpuinfo_max_freq"),
        "cpu_boost": _boost(),
        "smt": _flag(f"{CPU}/smt/active"),
        "numa_nodes": len(list(Path("/sys/devices/system/node").glob("node[0-9]*"))) or None,
        "swap_bytes": psutil.swap_memory().total,
        "container": _container(),
        "cgroup_cpu_max": _text("/sys/fs/cgroup/cpu.max"),
        "cgroup_memory_max": _text("/sys/fs/cgroup/memory.max"),
        "cpus_allowed": _cpus_allowed(),
        "load_average_1m": _load_average(),
        **{
            path.rpartition("/")[2].replace("-", "_"): _text(f"/proc/sys/{path}")
            for path in SYSCTLS
        },
    }


def _network(towards: str | None) -> dict[str, Any]:
    """The interface that leads to the server; loopback has no speed, so it is unknown."""
    name = None if towards is None else _interface(towards)
    speed = None if name is None else _whole(f"/sys/class/net/{name}/speed")
    return {
        "nic": name,
        "nic_speed_mbit": speed or None,
        "nic_mtu": None if name is None else _whole(f"/sys/class/net/{name}/mtu"),
    }


def _interface(towards: str) -> str | None:
    try:
        family, kind, _, _, address = socket.getaddrinfo(towards, 9, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as probe:
            probe.connect(address)  # sends nothing: it only asks for the route
            own = str(probe.getsockname()[0])
    except (OSError, IndexError):
        return None
    for name, addresses in psutil.net_if_addrs().items():
        if any(each.address.partition("%")[0] == own for each in addresses):
            return str(name)
    return None


def _cpu_mhz() -> float | None:
    try:
        frequency = psutil.cpu_freq()
    except (OSError, NotImplementedError, RuntimeError, AttributeError):
        return None
    return round(frequency.current, 1) if frequency and frequency.current else None


def _kilohertz(path: str) -> float | None:
    value = _whole(path)
    return None if value is None else value / 1000


def _whole(path: str) -> int | None:
    text = _text(path)
    return int(text) if text is not None and text.isdigit() else None


def _flag(path: str) -> bool | None:
    return {"0": False, "1": True}.get(_text(path) or "")


def _boost() -> bool | None:
    no_turbo = _flag(f"{CPU}/intel_pstate/no_turbo")
    return not no_turbo if no_turbo is not None else _flag(f"{CPU}/cpufreq/boost")


def _container() -> str | None:
    """The kind of container, "none" where the first process is that of a whole system."""
    for path, name in (("/.dockerenv", "docker"), ("/run/.containerenv", "podman")):
        if Path(path).exists():
            return name
    if os.environ.get("KUBERNETES_SERVICE_HOST"):
        return "kubernetes"
    first = _text("/proc/1/comm")
    return "none" if first in ("systemd", "init") else None


def _cpus_allowed() -> int | None:
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return None


def _lines(path: str) -> list[str]:
    """The lines of a file; none where it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _text(path: str) -> str | None:
    return " ".join(" ".join(_lines(path)).split()) or None


def _cpu_model() -> str | None:
    rows = [line.partition(":") for line in _lines("/proc/cpuinfo")]
    if not rows:
        return platform.processor() or None
    names = (value for key, _, value in rows if key.strip() in ("model name", "Model"))
    return next(names, "").strip() or None


def _os_name() -> str | None:
    lines = _lines("/etc/os-release")
    if not lines:
        return platform.platform() or None
    values = dict(line.split("=", 1) for line in lines if "=" in line)
    return values.get("PRETTY_NAME", "").strip('"') or None


def _virtualisation() -> str | None:
    """As systemd reports it where it is installed; else by what the kernel shows; else None."""
    program = shutil.which("systemd-detect-virt")
    if program:
        done = ask([program], limit_s=5)
        return None if done is None else done.stdout.strip() or None
    if Path("/.dockerenv").exists():
        return "docker"
    flags = _text("/proc/cpuinfo") or ""
    if " hypervisor " in f" {flags} ":
        return _text("/sys/class/dmi/id/product_name") or "virtual machine of unknown kind"
    return None


def _limits(number: int) -> list[int | None]:
    """Soft and hard limit; None where there is none."""
    limits = resource.getrlimit(number)
    return [None if limit == resource.RLIM_INFINITY else limit for limit in limits]


def _load_average() -> float | None:
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None


def sha256_of(path: str) -> str | None:
    """SHA-256 of a program's file, links followed: the same for the same program."""
    digest = hashlib.sha256()
    try:
        with Path(path).open("rb") as handle:
            while block := handle.read(1 << 20):
                digest.update(block)
    except OSError:
        return None
    return digest.hexdigest()
