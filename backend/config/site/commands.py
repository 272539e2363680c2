"""The commands the service is made of: scripts/start, the Dockerfile and compose use these."""

# Quiet: on a full disk its banner cannot be written to the log, and would end it.
CELERY = ("celery", "--quiet", "-A")
_READERS = ("--concurrency=2", "--loglevel=INFO")
# Workers tell each other nothing through the broker. Telling it that they live, they would wait for
# a broker that is gone, and end neither by a signal nor with their supervisor.
_ALONE = ("--without-heartbeat", "--without-gossip", "--without-mingle")


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
