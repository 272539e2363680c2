"""Machines that share PostgreSQL, Valkey and a bucket, and nothing else.

Each has its own folders for data and temporary files, its own environment and its own ports. What
they share of the machine that plays them all is its cores and its host name. Without a bucket they
share the folder for data too, as processes of one machine do.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import psutil

from backend.config.recovery.embedded import Postgres, Valkey, ends_with_parent, free_port
from backend.config.site import commands
from backend.testing.s3_server import S3Server
from backend.testing.supervised import ROOT, tree_of
from backend.testing.waiting import is_answering, wait_until

READY_S = 180.0
STOP_S = 60.0


class Machine:
    """Processes that share a folder. `kill` is what a power cut does to them."""

    def __init__(
        self,
        name: str,
        folder: Path,
        environment: Mapping[str, str],
        *,
        data: Path | None = None,
    ) -> None:
        """`data` is a folder that others use too; else the machine has its own."""
        self.name = name
        self.folder = folder / name
        self.log = self.folder / "log"
        scratch = self.folder / "scratch"
        scratch.mkdir(parents=True)
        own = {"DATA_DIR": str(data or self.folder / "data"), "TMPDIR": str(scratch)}
        self.environment = {**environment, **own}
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self, command: Sequence[str]) -> None:
        """Returns at once; `wait_for` waits."""
        with self.log.open("ab") as out:
            self._process = subprocess.Popen(
                list(command),
                cwd=self.folder,
                env=self.environment,
                stdout=out,
                stderr=out,
                preexec_fn=ends_with_parent(signal.SIGTERM),  # noqa: PLW1509  exec follows at once
            )

    def start_web(self) -> None:
        self.start(commands.web(bind=f"127.0.0.1:{self.port}"))

    def start_worker(self, *, readers: int) -> None:
        ordinary = [word for word in commands.worker() if not word.startswith("--concurrency")]
        self.start([*ordinary, f"--concurrency={readers}", f"--hostname={self.name}@%h"])

    def start_beat(self) -> None:
        self.start(commands.beat())

    def wait_until_answering(self) -> None:
        """Of a web machine. Raises TimeoutError."""
        if not wait_until(lambda: is_answering(f"{self.url}/readyz"), READY_S):
            raise TimeoutError(f"{self.name} did not answer in {READY_S:g} s; see {self.log}")

    def wait_for(self, text: str) -> None:
        """Until the log has this text. Raises TimeoutError."""
        if not wait_until(lambda: text in self.log.read_text(errors="replace"), READY_S):
            raise TimeoutError(f"{self.name} did not say {text!r}; see {self.log}")

    def processes(self) -> list[psutil.Process]:
        """Those that run."""
        return [] if self._process is None else tree_of(self._process.pid)

    def cpu_s(self) -> float:
        """CPU time so far of what runs and of its children that ended."""
        return _cpu_s_of(self.processes())

    def kill(self) -> None:
        """All its processes at the same moment."""
        doomed = self.processes()
        for process in doomed:
            with contextlib.suppress(psutil.Error):
                process.suspend()
        for process in doomed:
            with contextlib.suppress(psutil.Error):
                process.kill()
        if self._process is not None:
            self._process.wait()

    def suspend(self) -> None:
        """Nothing runs until `resume`."""
        for process in self.processes():
            process.suspend()

    def resume(self) -> None:
        for process in self.processes():
            process.resume()

    def stop(self) -> None:
        """As an operator stops it; what does not end in time is killed."""
        if self._process is None:
            return
        self.resume()
        self._process.terminate()
        try:
            self._process.wait(timeout=STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()


class Cluster:
    """The services in the middle, and the machines around them. A context manager."""

    def __init__(
        self,
        folder: Path,
        variables: Mapping[str, str] | None = None,
        *,
        has_bucket: bool = True,
    ) -> None:
        self.folder = folder
        self._data = None if has_bucket else folder / "data"
        self.postgres, self.valkey = Postgres(folder / "database"), Valkey(folder / "broker")
        self.s3 = S3Server(folder / "s3")
        self.machines: list[Machine] = []
        self._variables = dict(variables or {})

    def __enter__(self) -> Cluster:
        try:
            self._start_services()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _start_services(self) -> None:
        for service in (self.postgres, self.valkey):
            service.start(self.folder / "services.log")
        if self._data is None:
            self.s3.start()
        self.operator = Machine("operator", self.folder, self._environment(), data=self._data)
        self.manage("migrate", "--verbosity=0")
        self.token = str(json.loads(self.manage("make_demo"))["token"])

    def _environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "SECRET_KEY": secrets.token_hex(32),
            "TOKEN_PEPPER": secrets.token_hex(32),
            "DATABASE_URL": self.postgres.url,
            "REDIS_URL": self.valkey.url,
            "ALLOWED_HOSTS": "127.0.0.1",
            "DJANGO_SETTINGS_MODULE": "backend.config.settings",
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "agents" / "src")]),
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            **(self.s3.variables if self._data is None else {}),
            **self._variables,
        }

    def machine(self, name: str) -> Machine:
        """Another machine, on which nothing runs yet."""
        fresh = Machine(name, self.folder, self.operator.environment, data=self._data)
        self.machines.append(fresh)
        return fresh

    def manage(self, *arguments: str) -> str:
        """What `manage.py` prints on the operator's machine. Raises CalledProcessError."""
        return self._run_manage(arguments, check=True).stdout

    def verify(self) -> subprocess.CompletedProcess[str]:
        """`manage.py verify --hash`: every row against its object in the bucket."""
        return self._run_manage(["verify", "--hash"], check=False)

    def _run_manage(
        self, arguments: Sequence[str], *, check: bool
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *arguments],
            env=self.operator.environment,
            capture_output=True,
            text=True,
            check=check,
        )

    def cpu_s(self) -> dict[str, float]:
        """CPU time so far by machine, and of the services in the middle."""
        used = {machine.name: machine.cpu_s() for machine in self.machines}
        programs = {
            "postgres": self.postgres.process,
            "valkey": self.valkey.process,
            "s3": self.s3.process,
        }
        for name, program in programs.items():
            used[name] = 0.0 if program is None else _cpu_s_of(tree_of(program.pid))
        return used

    def stop_machines(self) -> None:
        """Their data stay in the services."""
        for machine in self.machines:
            machine.stop()

    def stop(self) -> None:
        self.stop_machines()
        for service in (self.s3, self.valkey, self.postgres):
            service.stop()


def _cpu_s_of(processes: Iterable[psutil.Process]) -> float:
    """Of processes and their children that ended."""
    used = 0.0
    for process in processes:
        with contextlib.suppress(psutil.Error):
            used += sum(process.cpu_times()[:4])
    return used


def start_all(web: Iterable[Machine], workers: Iterable[Machine], *, readers: int) -> None:
    """Start them, and return when all of them work. Raises TimeoutError."""
    for machine in web:
        machine.start_web()
    for machine in workers:
        machine.start_worker(readers=readers)
    for machine in web:
        machine.wait_until_answering()
    for machine in workers:
        machine.wait_for("ready.")
