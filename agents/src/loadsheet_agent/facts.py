"""Facts of this machine, for the record. What cannot be read is None, never a guess."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

KERNEL_LIMITS = {
    "somaxconn": "net/core/somaxconn",
    "ip_local_port_range": "net/ipv4/ip_local_port_range",
    "tcp_tw_reuse": "net/ipv4/tcp_tw_reuse",
    "tcp_max_syn_backlog": "net/ipv4/tcp_max_syn_backlog",
    "tcp_fin_timeout": "net/ipv4/tcp_fin_timeout",
    "file_max": "fs/file-max",
}


@dataclass(frozen=True)
class HostFacts:
    name: str
    cpu_model: str | None
    cores: int | None
    threads: int | None
    memory_bytes: int | None
    virtualisation: str | None
    os: str | None
    kernel: str | None
    facts: dict[str, Any]


def read_host() -> HostFacts:
    return HostFacts(
        name=socket.gethostname(),
        cpu_model=_cpu_model(),
        cores=psutil.cpu_count(logical=False),
        threads=psutil.cpu_count(logical=True),
        memory_bytes=psutil.virtual_memory().total,
        virtualisation=_virtualisation(),
        os=_os_name(),
        kernel=f"{platform.system()} {platform.release()}".strip() or None,
        facts=_more_facts(),
    )


def _more_facts() -> dict[str, Any]:
    limits = {name: _text(f"/proc/sys/{path}") for name, path in KERNEL_LIMITS.items()}
    soft, hard = _open_files_limit()
    return {
        "hostname": socket.gethostname(),
        "architecture": platform.machine() or None,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "ulimit_nofile_soft": soft,
        "ulimit_nofile_hard": hard,
        "cpu_governor": _text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "cgroup_cpu_max": _text("/sys/fs/cgroup/cpu.max"),
        "cgroup_memory_max": _text("/sys/fs/cgroup/memory.max"),
        "load_average_1m": _load_average(),
        **limits,
    }


def _text(path: str) -> str | None:
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return " ".join(text.split()) or None


def _cpu_model() -> str | None:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor() or None
    for line in lines:
        key, _, value = line.partition(":")
        if key.strip() in ("model name", "Model"):
            return value.strip() or None
    return None


def _os_name() -> str | None:
    try:
        lines = Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.platform() or None
    values = dict(line.split("=", 1) for line in lines if "=" in line)
    return values.get("PRETTY_NAME", "").strip('"') or None


def _virtualisation() -> str | None:
    """systemd's answer where it is installed; else what the kernel shows; else unknown."""
    program = shutil.which("systemd-detect-virt")
    if program:
        try:
            done = subprocess.run([program], capture_output=True, text=True, timeout=5, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.strip() or None
    if Path("/.dockerenv").exists():
        return "docker"
    flags = _text("/proc/cpuinfo") or ""
    if " hypervisor " in f" {flags} ":
        return _text("/sys/class/dmi/id/product_name") or "virtual machine of unknown kind"
    return None


def _open_files_limit() -> tuple[int | None, int | None]:
    try:
        import resource
    except ImportError:
        return None, None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    return (None if soft == unlimited else soft), (None if hard == unlimited else hard)


def _load_average() -> float | None:
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None
