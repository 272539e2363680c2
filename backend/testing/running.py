"""The service's real processes on the database of the tests, to be killed and started again."""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from django.db import connection

from backend.config import commands
from backend.config.embedded import free_port

READY_S = 30.0


def environment(data_dir: Path, **more: str) -> dict[str, str]:
    """For processes on the database of this test and a folder of its own."""
    database = connection.settings_dict
    url = f"postgresql://{database['USER']}@/{database['NAME']}?host={database['HOST']}"
    return {**os.environ, "DATABASE_URL": url, "DATA_DIR": str(data_dir), **more}


def start_worker(env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """A Celery worker of two processes, in a session of its own."""
    command = [sys.executable, "-m", "celery", "-A", "backend.config.celery", "worker"]
    quiet = ["--concurrency=2", "--loglevel=ERROR", "--without-mingle", "--without-gossip"]
    return _spawn([*command, *quiet], env)


def kill(process: subprocess.Popen[bytes]) -> None:
    """The process and all it started, at once."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class Web:
    """The web server on a port of its own, which stays the same over restarts."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.port = free_port()
        self._env = {**env, "ALLOWED_HOSTS": "127.0.0.1", "PUBLIC_URL": self.url}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = [sys.executable, *commands.web(bind=f"127.0.0.1:{self.port}")[1:]]
        self._process = _spawn(command, self._env)
        self._wait()

    def stop(self) -> None:
        """Ends it at once, in the middle of whatever it does."""
        if self._process is not None:
            kill(self._process)
            self._process = None

    def _wait(self) -> None:
        deadline = time.monotonic() + READY_S
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"{self.url}/livez", timeout=2):  # noqa: S310
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.05)
        raise TimeoutError(f"{self.url} did not answer in {READY_S:g} s")


def _spawn(command: list[str], env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        env=dict(env),
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
