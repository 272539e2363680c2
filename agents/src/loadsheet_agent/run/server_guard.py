"""Runs one server and ends it when the agent is gone, even by `kill -9`.

Started as a script of its own (`python server_guard.py OPTIONS ARGV...`), so it imports only the
standard library. OPTIONS is JSON: the user, processors and limits of the server. The standard input
is a pipe held open by the agent: end of file means the agent died.
"""

import json
import os
import pwd
import resource
import signal
import subprocess
import sys
import threading
import time
from typing import Any, Optional

STOP_GRACE_S = 5.0


def main() -> int:
    """The server's exit code; 128 and more after a signal, as shells count."""
    # The agent stops the whole process group; the guard stays to pass on the exit code.
    signal.signal(signal.SIGTERM, lambda *_: None)
    options, argv = json.loads(sys.argv[1]), sys.argv[2:]
    try:
        _limit(options)
        server = subprocess.Popen(argv, stdin=subprocess.DEVNULL, **_identity(options["user"]))
    except (OSError, ValueError, LookupError, AttributeError) as error:
        sys.stderr.write(f"{argv[0]}: {getattr(error, 'strerror', None) or error}\n")
        return 127
    threading.Thread(target=_end_with_agent, args=(server,), daemon=True).start()
    code = server.wait()
    return code if code >= 0 else 128 - code


def _limit(options: dict[str, Any]) -> None:
    """Set processors and limits of this process, which its server inherits."""
    if options["cpus"]:
        os.sched_setaffinity(0, options["cpus"])
    for name, limit in options["ulimit"].items():
        number = getattr(resource, f"RLIMIT_{name.upper()}")
        hard = resource.getrlimit(number)[1]
        is_lower = hard != resource.RLIM_INFINITY and hard < limit
        resource.setrlimit(number, (limit, limit if is_lower else hard))


def _identity(user: Optional[str]) -> dict[str, Any]:
    """Arguments that make the server run as the user, in none of the agent's groups."""
    return {} if user is None else {"user": user, "group": _group(user), "extra_groups": []}


def _group(user: str) -> int:
    return pwd.getpwnam(user).pw_gid


def _end_with_agent(server: "subprocess.Popen[bytes]") -> None:
    while os.read(0, 1):
        pass
    os.killpg(0, signal.SIGTERM)
    deadline = time.monotonic() + STOP_GRACE_S
    while server.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
