"""Finds the Python that a server is installed for."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from loadsheet_agent.errors import NotInstalledError
from loadsheet_agent.programs import ask

QUESTION = "import platform, sys; print(sys.executable); print(platform.python_version())"


@dataclass(frozen=True)
class Interpreter:
    """`path` is that of the program itself, `version` such as 3.11.7."""

    path: str
    version: str

    @property
    def has_venv(self) -> bool:
        """Python 2 has no module venv."""
        return not self.version.startswith("2.")


def find_interpreter(name: str, environ: Mapping[str, str] = os.environ) -> Interpreter:
    """`name` is a version such as 3.11, a program on the PATH or a path.

    Raises NotInstalledError where none answers.
    """
    for path in _candidates(name, environ):
        interpreter = _ask(path)
        if interpreter is not None and _fits(interpreter, name):
            return interpreter
    hint = f"pyenv install {name}" if name[:1].isdigit() else "install it"
    raise NotInstalledError(f"Python {name} was not found ({hint})")


def _fits(interpreter: Interpreter, name: str) -> bool:
    """Whether the version is the wanted one, where a version was given."""
    return not name[:1].isdigit() or f"{interpreter.version}.".startswith(f"{name}.")


def _candidates(name: str, environ: Mapping[str, str]) -> list[str]:
    """Versions of pyenv first: its programs on the PATH answer for the chosen version only."""
    if not name[:1].isdigit():
        path = shutil.which(name)
        return [path] if path else []
    root = Path(environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    versions = sorted((root / "versions").glob(f"{name}*"), reverse=True)
    on_path = shutil.which(f"python{'.'.join(name.split('.')[:2])}")
    return [*(str(path / "bin" / "python") for path in versions), *([on_path] if on_path else [])]


def _ask(path: str) -> Interpreter | None:
    done = ask([path, "-c", QUESTION])
    lines = done.stdout.splitlines() if done is not None and done.returncode == 0 else []
    return Interpreter(lines[0], lines[1]) if len(lines) == 2 else None
