"""Runs one server and ends it when the agent is gone, even by `kill -9`.

Started as a script of its own (`python server_guard.py ARGV...`), so it imports only the standard
library. Its standard input is a pipe held open by the agent: end of file means the agent died.
"""

import os
import signal
import subprocess
import sys
import threading
import time

STOP_GRACE_S = 5.0


def main() -> int:
    """The server's exit code; 128 and more after a signal, as shells count."""
    # The agent stops the whole process group; the guard stays to pass on the exit code.
    signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        server = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
    except OSError as error:
        sys.stderr.write(f"{sys.argv[1]}: {error.strerror}\n")
        return 127
    threading.Thread(target=_end_with_agent, args=(server,), daemon=True).start()
    code = server.wait()
    return code if code >= 0 else 128 - code


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
