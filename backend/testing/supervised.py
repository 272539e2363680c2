"""A whole site under its supervisor, as a process of its own: for tests and benches that kill."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path

import httpx
import psutil

from backend.config.recovery.embedded import ends_with_parent

ROOT = Path(__file__).resolve().parents[2]
# How long a busy machine may take; whoever waits goes on as soon as possible. What needs ten
# seconds of an idle machine takes minutes where each core has a dozen processes to run.
PATIENCE_S = 600
# How each program is told by a word of its command line. PostgreSQL has workers too.
PROGRAMS = {
    "web": re.compile(r"^--config=python:backend\.config\.serving\.web_server$"),
    "worker": re.compile(r"^worker$"),
    "parser": re.compile(r"^backend\.untrusted\.sandbox\.parse_child$"),
    "cleaner": re.compile(r"^backend\.untrusted\.secrets\.clean_child$"),
    "beat": re.compile(r"^beat$"),
    "postgres": re.compile(r"/postgres$|^postgres:"),
    "valkey": re.compile(r"valkey"),
}
# Of the machine or of another site: this one makes its own.
OF_ANOTHER_SITE = (
    "DATABASE_URL",
    "DATABASE_POOLER",
    "REDIS_URL",
    "CACHE_URL",
    "ANSWERS_URL",
    "SECRET_KEY",
    "TOKEN_PEPPER",
)


class SiteDidNotStart(Exception):
    """The message has the supervisor's output."""


class SupervisedSite:
    """The supervisor of scripts/start on a folder and a port of its own.

    `tree`: the checkout that runs. Another one is made ready by its own scripts/start.
    """

    def __init__(
        self,
        data: Path,
        port: int,
        variables: Mapping[str, str] | None = None,
        *,
        tree: Path = ROOT,
    ) -> None:
        self.tree = tree
        self.data = data
        self.port = port
        self.output = data.parent / f"output-{data.name}"
        inherited = {name: text for name, text in os.environ.items() if name not in OF_ANOTHER_SITE}
        own = {"PYTHONPATH": os.pathsep.join([str(tree), str(tree / "agents" / "src")])}
        self.environment = {**inherited, **own}
        self.variables = dict(variables or {})
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Returns at once; `wait` waits."""
        command = [sys.executable, "-m", "backend.config.site.supervisor"]
        if self.tree != ROOT:
            # It knows where the supervisor of its version is.
            command = [str(self.tree / "scripts" / "start")]
        with self.output.open("wb") as out:
            self.process = subprocess.Popen(
                [*command, "--no-demo", "--port", str(self.port), "--data", str(self.data)],
                cwd=self.tree,
                env={**self.environment, **self.variables},
                stdout=out,
                stderr=out,
                # A test or bench that is killed leaves nothing running.
                preexec_fn=ends_with_parent(signal.SIGTERM),  # noqa: PLW1509  exec follows at once
            )

    def wait(self) -> None:
        """Return when the site runs; raises SiteDidNotStart."""
        deadline = time.monotonic() + PATIENCE_S
        while "Loadsheet runs at" not in (text := self.output.read_text()):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SiteDidNotStart(text[-2000:])
            time.sleep(0.1)

    def children(self) -> list[psutil.Process]:
        return list(psutil.Process(self.process.pid).children())

    def child(self, program: str) -> psutil.Process | None:
        """The first child of the supervisor that runs this program."""
        return next(running_program(self.children(), program), None)

    def processes(self, program: str) -> list[psutil.Process]:
        """All processes below the supervisor that run this program."""
        with contextlib.suppress(psutil.Error):
            everything = psutil.Process(self.process.pid).children(recursive=True)
            return list(running_program(everything, program))
        return []

    def answer(self, path: str) -> str:
        """The text of a 200, else an empty one."""
        status, text = self._ask(path)
        return text if status == HTTPStatus.OK else ""

    def any_answer(self, path: str) -> str:
        """The text of an answer, also of a refusal; empty without an answer."""
        _, text = self._ask(path)
        return text

    def _ask(self, path: str) -> tuple[int, str]:
        """Status and text; 0 and an empty text without an answer."""
        try:
            answer = httpx.get(self.url + path, timeout=10, trust_env=False, follow_redirects=True)
        except httpx.HTTPError:
            return 0, ""
        return answer.status_code, answer.text

    def manage(
        self,
        *arguments: str,
        within_s: float = PATIENCE_S,
        variables: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """`manage.py` on this site's data, while it runs."""
        return subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *arguments],
            env={**self.environment, "DATA_DIR": str(self.data), **(variables or {})},
            capture_output=True,
            text=True,
            check=False,
            timeout=within_s,
        )

    def kill(self) -> None:
        """The supervisor alone, at once; its children end by themselves."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """The exit status of the supervisor after SIGTERM."""
        self.process.terminate()
        return self.process.wait(timeout=PATIENCE_S)

    def left_behind(self) -> list[str]:
        """The command lines of its processes that do not end after it, nor after a killed one."""
        own = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.environ().get("DATA_DIR") == str(self.data):
                    own.append(process)
        return still_running(own)


def still_running(processes: list[psutil.Process]) -> list[str]:
    """The command lines of those that do not end in `PATIENCE_S` seconds.

    A zombie has ended: not every machine's first process collects orphans.
    """
    deadline = time.monotonic() + PATIENCE_S
    while (alive := [line for line in map(_command_line, processes) if line]) and (
        time.monotonic() < deadline
    ):
        time.sleep(0.1)
    return alive


def _command_line(process: psutil.Process) -> str:
    """Empty when it has ended."""
    try:
        if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            return " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        pass
    return ""


def running_program(processes: list[psutil.Process], program: str) -> Iterator[psutil.Process]:
    """Those that run a program of PROGRAMS."""
    for process in processes:
        with contextlib.suppress(psutil.Error):
            if any(PROGRAMS[program].search(word) for word in process.cmdline()):
                yield process


def tree_of(pid: int) -> list[psutil.Process]:
    """A process and all below it; none where it has ended."""
    with contextlib.suppress(psutil.Error):
        first = psutil.Process(pid)
        return [first, *first.children(recursive=True)]
    return []


@contextlib.contextmanager
def frozen(processes: Sequence[psutil.Process]) -> Iterator[None]:
    """They do nothing while the block runs, as on a machine that hangs."""
    for process in processes:
        process.suspend()
    try:
        yield
    finally:
        for process in processes:
            process.resume()


@contextlib.contextmanager
def open_folder(prefix: str = "loadsheet-site-") -> Iterator[Path]:
    """A folder that PostgreSQL's user may pass, as those of pytest are not."""
    with tempfile.TemporaryDirectory(prefix=prefix) as name:
        Path(name).chmod(0o755)
        yield Path(name)


@contextlib.contextmanager
def small_disk(folder: Path, size_bytes: int) -> Iterator[Path | None]:
    """A disk of so many bytes in `folder`; None where this user may not mount one."""
    disk = folder / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size_bytes},mode=0755", "tmpfs", str(disk)]
    try:
        is_mounted = subprocess.run(command, check=False, capture_output=True).returncode == 0
    except OSError:
        is_mounted = False
    if not is_mounted:
        yield None
        return
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def fill(file: Path) -> None:
    """Until its disk is full, to the last byte."""
    with contextlib.suppress(OSError), file.open("ab", buffering=0) as out:
        while True:
            out.write(b"x" * (1 << 20))
    with contextlib.suppress(OSError), file.open("ab", buffering=0) as out:
        while True:
            out.write(b"x" * 4096)
