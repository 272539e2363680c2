"""A loopback device that loses packets: in a network namespace of its own, never the machine's."""

import os
import re
import shutil
import subprocess
import sys

PROGRAMS = ("unshare", "ip", "nft")
# Set in the process that runs in the namespace.
MARK = "LOADSHEET_OWN_NETWORK"
# As on a real line. Loopback would pass on 64 KiB at once, and lose it at once.
MTU = 1500
RULES = """
table inet line {{
    chain lost {{
        type filter hook input priority 0;
        tcp dport {port} numgen random mod 100 < {percent} counter drop
        tcp sport {port} numgen random mod 100 < {percent} counter drop
    }}
    chain passed {{
        type filter hook output priority 0;
        tcp dport {port} counter
        tcp sport {port} counter
    }}
}}
"""


def enter_namespace() -> str:
    """Begin this program again in a namespace of its own; why that is not possible, else empty."""
    if os.environ.get(MARK):
        _run("ip", "link", "set", "lo", "mtu", str(MTU), "gso_max_segs", "1", "up")
        return ""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        return f"{', '.join(missing)} must be installed"
    if subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode:
        return "a network namespace of its own needs root, and a machine that allows it"
    sys.stdout.flush()
    os.environ[MARK] = "1"
    return os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv])  # noqa: S606


def lose_packets(port: int, percent: int) -> None:
    """From now on, of the TCP packets from and to the port; for the namespace alone."""
    assert os.environ.get(MARK), "call enter_namespace before"
    rules = RULES.format(port=port, percent=percent)
    subprocess.run(["nft", "--file", "-"], input=rules, text=True, check=True)


def lost_packets() -> tuple[int, int]:
    """How many packets were lost, and how many were sent."""
    listed = _run("nft", "list", "table", "inet", "line")
    counts = [int(count) for count in re.findall(r"counter packets (\d+)", listed)]
    return sum(counts[:2]), sum(counts[2:])


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
