"""Installs programs of a plan into folders that later runs use again.

A folder is named by a hash of everything that decides its content: interpreter, packages, hashes
and commands. It counts as complete once `installed.json` is there, so an interrupted installation
is made again. `install.log` has the whole output of every command.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from loadsheet_agent.errors import BrokenInstallError, NotInstalledError
from loadsheet_agent.install.downloads import put_sources
from loadsheet_agent.install.interpreters import Interpreter, find_interpreter
from loadsheet_agent.plan import placeholders
from loadsheet_agent.plan.server_spec import ProgramSpec

LIMIT_S = 900.0
LINE_LIMIT = 300
LOG = "install.log"
DONE = "installed.json"
DOWNLOADS = "downloads"
# What pip prints where it does not reach a registry.
UNREACHED = "after connection broken by"
# Python 2 has no venv: its packages are in a folder, and this program puts them on its path.
WRAPPER = '#!/bin/sh\nPYTHONPATH="{packages}${{PYTHONPATH:+:$PYTHONPATH}}" exec "{python}" "$@"\n'
# Packages of a namespace, such as zope.interface, are found by the .pth files beside them only.
CUSTOMISE = "import os, site\nsite.addsitedir(os.path.dirname(os.path.abspath(__file__)))\n"
# What fetches a commit, and how to get it.
GIT = {"git": "apt install git"}
# Where Debian has servers, which is not on the PATH of every user.
MORE_PATH = ("/usr/local/sbin", "/usr/sbin", "/sbin")


def cache_folder() -> Path:
    """Where installed servers are: LOADSHEET_CACHE, else the user's cache directory."""
    given = os.environ.get("LOADSHEET_CACHE")
    if given:
        return Path(given).absolute()
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base).absolute() / "loadsheet" / "servers"


@dataclass(frozen=True)
class Installer:
    """`directory` is the plan's; `note` receives a line for each installation that begins."""

    cache: Path
    directory: Path
    note: Callable[[str], None] = lambda _: None

    def install(self, spec: ProgramSpec, label: str) -> dict[str, str]:
        """Install the program unless that was done before.

        Returns the words {install}, {interpreter} and {interpreter_version}, as far as they have a
        meaning. Raises NotInstalledError.
        """
        problem = self.find_missing(spec)
        if problem is not None:
            raise NotInstalledError(problem)
        if not _has_folder(spec):
            return {}
        interpreter = find_interpreter(spec.interpreter) if spec.interpreter else None
        folder = self.cache / self._folder_name(spec, label, interpreter)
        constant = placeholders.constant_words(str(self.directory))
        words = {**constant, **_words(folder, interpreter)}
        if not (folder / DONE).exists():
            self.note(f"Installing {label} (the output is in {folder / LOG})")
            self._fill_folder(spec, folder, interpreter, words)
        return words

    def is_installed(self, spec: ProgramSpec, label: str) -> bool:
        """Whether nothing is left to install. Raises NotInstalledError without its interpreter."""
        if not _has_folder(spec):
            return True
        interpreter = find_interpreter(spec.interpreter) if spec.interpreter else None
        return (self.cache / self._folder_name(spec, label, interpreter) / DONE).exists()

    def find_missing(self, spec: ProgramSpec) -> str | None:
        """Why the program is not available: which program or interpreter the machine lacks."""
        if spec.unavailable is not None:
            return spec.unavailable.rstrip(".")
        is_from_git = any(source.commit is not None for source in spec.source)
        programs = {**spec.programs, **(GIT if is_from_git else {})}
        for name, hint in programs.items():
            if find_program(name) is None:
                return f"{name} is not installed ({hint})"
        try:
            if spec.interpreter is not None:
                find_interpreter(spec.interpreter)
        except NotInstalledError as error:
            return str(error)
        return None

    def _folder_name(self, spec: ProgramSpec, label: str, interpreter: Interpreter | None) -> str:
        lock = self._lock(spec)
        parts = {
            "interpreter": interpreter and [interpreter.path, interpreter.version],
            "packages": spec.packages,
            "lock": lock and lock.read_text(encoding="utf-8"),
            "source": [source.digest for source in spec.source],
            "install": spec.install,
            "environment": dict(spec.environment),
        }
        digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
        readable = "".join(char if char.isalnum() or char in ".@-" else "-" for char in label)
        return f"{readable[:60]}-{digest[:12]}"

    def _lock(self, spec: ProgramSpec) -> Path | None:
        if spec.lock is None:
            return None
        path = self.directory / spec.lock
        if not path.exists():
            raise NotInstalledError(f"the lock file {path} is missing")
        return path

    def _fill_folder(
        self,
        spec: ProgramSpec,
        folder: Path,
        interpreter: Interpreter | None,
        words: Mapping[str, str],
    ) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        put_sources(spec.source, folder, folder=self.cache / DOWNLOADS)
        environ = {
            **program_environ(),
            **{name: placeholders.fill(text, words) for name, text in spec.environment.items()},
        }
        commands = [] if interpreter is None else self._python_commands(spec, folder, interpreter)
        commands += [placeholders.fill_all(argv, words) for argv in spec.install]
        for argv in commands:
            _run(argv, folder, environ)
        (folder / DONE).write_text(json.dumps({"commands": commands}, indent=1), encoding="utf-8")

    def _python_commands(
        self, spec: ProgramSpec, folder: Path, interpreter: Interpreter
    ) -> list[tuple[str, ...]]:
        lock = self._lock(spec)
        wanted = (
            ("--require-hashes", "--no-deps", "-r", str(lock)) if lock else tuple(spec.packages)
        )
        commands: list[tuple[str, ...]] = []
        pip: tuple[str, ...]
        if interpreter.has_venv:
            commands = [(interpreter.path, "-m", "venv", str(folder))]
            pip = (str(folder / "bin" / "python"), "-m", "pip", "install", "--no-input")
        else:
            _write_wrapper(folder, interpreter)
            pip = (interpreter.path, "-m", "pip", "install", "--target", str(folder / "packages"))
        return [*commands, (*pip, *wanted)] if spec.packages else commands


def _has_folder(spec: ProgramSpec) -> bool:
    """Whether something is installed for the program."""
    return bool(spec.interpreter or spec.install or spec.source)


def find_program(name: str) -> str | None:
    """Path of a program, also of one that only root has on the PATH; a whole path is any file's."""
    if name.startswith("/"):
        return name if Path(name).exists() else None
    return shutil.which(name, path=program_environ()["PATH"])


def program_environ() -> dict[str, str]:
    """The environment of the agent without its token, with the folders of servers on its PATH."""
    others = {name: value for name, value in os.environ.items() if name != "LOADSHEET_TOKEN"}
    paths = os.environ.get("PATH", os.defpath).split(os.pathsep)
    more = [path for path in MORE_PATH if path not in paths]
    return {**others, "PATH": os.pathsep.join([*paths, *more])}


def _words(folder: Path, interpreter: Interpreter | None) -> dict[str, str]:
    words = {"install": str(folder)}
    if interpreter is not None:
        words |= {"interpreter": interpreter.path, "interpreter_version": interpreter.version}
    return words


def _write_wrapper(folder: Path, interpreter: Interpreter) -> None:
    program = folder / "bin" / "python"
    program.parent.mkdir()
    text = WRAPPER.format(packages=folder / "packages", python=interpreter.path)
    program.write_text(text, encoding="utf-8")
    program.chmod(0o755)
    packages = folder / "packages"
    packages.mkdir()
    (packages / "sitecustomize.py").write_text(CUSTOMISE, encoding="utf-8")


def _run(argv: tuple[str, ...], folder: Path, environ: Mapping[str, str]) -> None:
    log = folder / LOG
    with log.open("ab") as output:
        output.write(f"$ {' '.join(argv)}\n".encode())
        output.flush()
        try:
            done = subprocess.run(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=LIMIT_S,
                check=False,
                cwd=folder,
                env=environ,
            )
        except subprocess.TimeoutExpired:
            raise BrokenInstallError(
                f"{argv[0]} did not end within {LIMIT_S:g} s; the whole output is in {log}"
            ) from None
        except OSError as error:
            raise NotInstalledError(f"{argv[0]} could not be started: {error.strerror}") from error
    if done.returncode != 0:
        text = log.read_text(encoding="utf-8", errors="replace")
        # Without a registry, the same installation may work elsewhere.
        kind = NotInstalledError if UNREACHED in text else BrokenInstallError
        raise kind(
            f"{Path(argv[0]).name} ended with exit code {done.returncode}: {_last_error(text)}; "
            f"the whole output is in {log}"
        )


def _last_error(text: str) -> str:
    """The last line that names an error, else the last line."""
    lines = text.strip().splitlines()
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or ["no output"])[-1].strip()[:LINE_LIMIT]
