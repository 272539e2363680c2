"""A host as lines of label and value."""

from collections.abc import Mapping
from typing import Any

from backend.analysis.query.units import bytes_text

_HOST_LINES = {
    "cpu_model": "CPU",
    "cores": "Cores",
    "memory_bytes": "Memory",
    "virtualisation": "Virtualisation",
    "os": "Operating system",
    "kernel": "Kernel",
}


def shown_host(host: Mapping[str, Any]) -> dict[str, Any]:
    """A host as name, role and lines of label and value."""
    lines = [(label, _fact_text(name, host[name])) for name, label in _HOST_LINES.items()]
    return {
        "name": host["name"] or host["cpu_model"],
        "role": host["role"],
        "facts": lines + shown_facts(host["facts"]),
    }


# Facts in the order they are shown. Others follow by name.
_FACT_LABELS = {
    "hostname": "Host name",
    "architecture": "Architecture",
    "smt": "SMT",
    "numa_nodes": "NUMA nodes",
    "cpus_allowed": "CPUs allowed",
    "cpu_governor": "CPU governor",
    "cpu_boost": "CPU boost",
    "cpu_mhz": "CPU frequency, MHz",
    "cpu_mhz_max": "Highest CPU frequency, MHz",
    "load_average_1m": "Load average (1 minute) before the run",
    "swap_bytes": "Swap",
    "container": "Container",
    "cgroup_cpu_max": "CPU limit of the container (cpu.max)",
    "cgroup_memory_max": "Memory limit of the container",
    "nic": "Network interface to the server",
    "nic_speed_mbit": "Speed of the network interface, Mbit/s",
    "nic_mtu": "MTU of the network interface, bytes",
    "tool_path": "Load tool",
    "tool_sha256": "SHA-256 of the load tool",
    "python": "Python of the agent",
    "ulimit_nofile_soft": "Open files, soft limit",
    "ulimit_nofile_hard": "Open files, hard limit",
    "ulimit_nproc_soft": "Processes, soft limit",
    # Settings of the kernel, with the kernel's names.
    "file_max": "Open files of the whole host (fs.file-max)",
    "file_nr": "Open files in use, free, limit (fs.file-nr)",
    "pipe_max_size": "Largest pipe buffer, bytes (fs.pipe-max-size)",
    "ip_local_port_range": "Local ports, first and last (ip_local_port_range)",
    "somaxconn": "Longest listen queue (somaxconn)",
    "tcp_max_syn_backlog": "Longest queue of half-open connections (tcp_max_syn_backlog)",
    "netdev_max_backlog": "Longest queue of received packets (netdev_max_backlog)",
    "optmem_max": "Most memory of a socket's options, bytes (optmem_max)",
    "rmem_default": "Receive buffer, bytes (rmem_default)",
    "rmem_max": "Largest receive buffer, bytes (rmem_max)",
    "wmem_default": "Send buffer, bytes (wmem_default)",
    "wmem_max": "Largest send buffer, bytes (wmem_max)",
    "tcp_rmem": "TCP receive buffer: least, default, most bytes (tcp_rmem)",
    "tcp_wmem": "TCP send buffer: least, default, most bytes (tcp_wmem)",
    "tcp_mem": "TCP memory: low, pressure, most pages (tcp_mem)",
    "tcp_congestion_control": "TCP congestion control",
    "tcp_fastopen": "TCP Fast Open (tcp_fastopen)",
    "tcp_fin_timeout": "Wait before a closed connection is dropped, s (tcp_fin_timeout)",
    "tcp_low_latency": "Prefer low latency (tcp_low_latency)",
    "tcp_max_orphans": "Most connections without a process (tcp_max_orphans)",
    "tcp_syncookies": "SYN cookies (tcp_syncookies)",
    "tcp_tw_reuse": "Reuse of connections in TIME_WAIT (tcp_tw_reuse)",
    "tcp_window_scaling": "TCP window scaling (tcp_window_scaling)",
}
# Numbers of bytes.
_SIZES = frozenset({"memory_bytes", "swap_bytes", "cgroup_memory_max"})
_INSIDE_LABELS = {
    "clock": {
        "offset_s": "Clock: service minus host, s",
        "uncertainty_s": "Clock: uncertainty ±, s",
        "round_trip_s": "Clock: shortest round trip, s",
        "is_applied": "Clock: the difference is in the times of the run",
    },
    "calibration": {
        "python_msteps_s": "Score: Python, million steps/s",
        "sha256_mib_s": "Score: SHA-256, MiB/s",
        "zlib_mib_s": "Score: zlib, MiB/s",
        "version": "Score: version of the test",
        "python": "Score: measured by",
        "openssl": "Score: OpenSSL library",
        "zlib": "Score: zlib library",
    },
}


def shown_facts(facts: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Recorded facts as lines of label and value; a nested fact becomes several lines."""
    lines = [
        (label, _fact_text(name, facts[name]))
        for name, label in _FACT_LABELS.items()
        if name in facts
    ]
    rest = sorted(name for name in facts if name not in _FACT_LABELS and name not in _INSIDE_LABELS)
    lines += [(name.replace("_", " "), facts[name]) for name in rest]
    for name, labels in _INSIDE_LABELS.items():
        lines += _inside(name, facts.get(name), labels)
    return [(label, _text(value)) for label, value in lines]


def _text(value: Any) -> Any:
    """Yes and no as people say them; any other value as it is."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value


def _inside(name: str, value: Any, labels: Mapping[str, str]) -> list[tuple[str, Any]]:
    if not isinstance(value, dict):
        return [] if value is None else [(name, value)]
    labelled = [(label, value[key]) for key, label in labels.items() if key in value]
    rest = sorted(key for key in value if key not in labels)
    return labelled + [(f"{name}: {key}", value[key]) for key in rest]


def _fact_text(name: str, value: Any) -> Any:
    """A size with its unit: `2 GiB`. The kernel prints `max` where there is no limit."""
    is_size = name in _SIZES and str(value).isdecimal()
    return bytes_text(int(value)) if is_size else value


def fact_label(path: str) -> str:
    """The label of a fact by its name, or by the dotted path of a nested one."""
    name, _, inside = path.partition(".")
    if inside:
        return _INSIDE_LABELS.get(name, {}).get(inside, f"{name}: {inside}")
    return _FACT_LABELS.get(name) or _HOST_LINES.get(name) or name.replace("_", " ")
