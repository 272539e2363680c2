"""The commands the service is made of: scripts/start, the Dockerfile and compose use these.

And the socket of the web processes, for who starts them: nothing of the web server is loaded.
"""

import socket

# Quiet: on a full disk its banner cannot be written to the log, and would end it.
CELERY = ("celery", "--quiet", "-A")
_READERS = ("--concurrency=2", "--loglevel=INFO")
# Workers tell each other nothing through the broker. Telling it that they live, they would wait for
# a broker that is gone, and end neither by a signal nor with their supervisor.
_ALONE = ("--without-heartbeat", "--without-gossip", "--without-mingle")
# Connections that wait to be taken. Gunicorn leaves it to asyncio, which asks for no more.
BACKLOG = 100
# For so long a web process that was told to stop answers what it has read, and keeps the socket.
STOP_S = 25


def web(*, bind: str = "", socket: int | None = None, processes: int = 1) -> list[str]:
    """The web server, on an address or on a socket that listens already."""
    place = bind if socket is None else f"fd://{socket}"
    settings = "--config=python:backend.config.serving.web_server"
    # Else each thread keeps an arena of memory of its own, as large as its largest request.
    arenas = ("env", "MALLOC_ARENA_MAX=2")
    return [*arenas, "gunicorn", settings, f"--workers={processes}", f"--bind={place}"]


def worker() -> list[str]:
    """The reader of uploads; nice, so that receiving goes before reading."""
    return ["nice", "-n", "10", *CELERY, "backend.config.celery", "worker", *_READERS, *_ALONE]


def beat() -> list[str]:
    """The clock of collector and canary. Its schedule needs no memory, so it writes no file."""
    clock = "backend.config.processes.clock"
    return [
        *CELERY,
        clock,
        "beat",
        f"--scheduler={clock}:Clock",
        "--pidfile=",
        "--loglevel=WARNING",
    ]


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens on this address; raises OSError."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen(BACKLOG)
    return listener
