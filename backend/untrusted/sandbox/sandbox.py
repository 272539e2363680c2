"""The parent's side of the child that parses: it starts, asks and replaces the child."""

import atexit
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import orjson
from django.conf import settings

from backend.storage import StorageAway
from backend.untrusted.sandbox.child import LENGTH, Limits
from backend.untrusted.sandbox.child_process import (
    close_pipes,
    death_of,
    end_group,
    has_ended,
    has_output,
    start_child,
)
from backend.untrusted.sandbox.deaths import Death
from backend.untrusted.sandbox.parser_failures import (
    ChildEnded,
    ParserDied,
    ParserFailed,
    ParserInterrupted,
    ParserSlow,
    failure_in,
    failure_of,
)

log = logging.getLogger(__name__)

Answers = Generator[dict[str, Any]]
OUTPUT_BYTES = 64 << 20
GRACE_S = 5
MEANWHILE_S = 1.0
# Seconds for each second of CPU time that a child may use: on a busy machine it passes slower.
USUAL_PATIENCE = 2


@dataclass(frozen=True, slots=True)
class LocalArtefact:
    """A raw file for the child to read: where it is, or what is in it."""

    name: str
    path: Path | None = None
    text: str = ""

    def as_dict(self) -> dict[str, str]:
        """As a request names it."""
        content = {"text": self.text} if self.path is None else {"path": str(self.path)}
        return {"name": self.name, **content}


@dataclass(frozen=True, slots=True)
class Question:
    """The artefacts of one trial, and the load tool that is said to have written them."""

    artefacts: Sequence[LocalArtefact]
    tool: str


class Sandbox:
    """One child at a time; a dead one is replaced at the next request."""

    def __init__(
        self, command: Sequence[str] | None = None, *, patience: int = USUAL_PATIENCE
    ) -> None:
        self.command = list(
            command or (sys.executable, "-m", "backend.untrusted.sandbox.parse_child")
        )
        self.patience = patience
        self.child: subprocess.Popen[bytes] | None = None
        # Started while the child works on what it may not finish.
        self.spare: subprocess.Popen[bytes] | None = None
        # Whether an answer is waited for.
        self.is_at_work = False

    def prepare(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Return when a child answers: starting one takes seconds on a busy machine.

        `meanwhile` and what is raised are those of `read`, but a child that dies now is never the
        fault of an upload: that is ParserInterrupted.
        """
        if self.child is None or self.child.poll() is not None:
            try:
                self.read([], tool="", meanwhile=meanwhile)
            except ParserDied as died:
                how = died.death.how()
                raise ParserInterrupted(f"The parser {how}, before it read this upload.") from None

    def start_spare(self) -> None:
        """Start the child that takes the place of this one, should it be stopped."""
        if self.spare is None:
            with suppress(OSError):  # the next upload then waits for a start, as without a spare
                self.spare = start_child(self.command)

    def drop_spare(self) -> None:
        """End the spare where the child goes on: it would take memory for nothing."""
        if self.child is not None and (spare := self._taken_spare()) is not None:
            spare.kill()
            spare.wait()
            end_group(spare)
            close_pipes(spare)

    def cpu_s(self) -> float:
        """CPU seconds that the child has used; 0 without a child, or where no /proc tells it."""
        if self.child is None:
            return 0.0
        try:
            stat = Path(f"/proc/{self.child.pid}/stat").read_text()
        except OSError:
            return 0.0
        # The name of the program, in parentheses, may hold spaces.
        user_ticks, system_ticks = stat.rpartition(")")[2].split()[11:13]
        return (int(user_ticks) + int(system_ticks)) / os.sysconf("SC_CLK_TCK")

    def read(
        self,
        artefacts: Sequence[LocalArtefact],
        *,
        tool: str,
        meanwhile: Callable[[], None] = lambda: None,
        limits: Limits | None = None,
    ) -> dict[str, Any]:
        """What the child read: {"version", "entries"} or {"refused"}.

        `meanwhile` is called every MEANWHILE_S seconds until the child answers; what it raises
        ends the child. Raises ParserFailed, ParserDied and ParserInterrupted where another attempt
        may succeed, and StorageAway when the child could not read a file.
        """
        return self.request(artefacts, {"tool": tool}, limits or current_limits(), meanwhile)

    def read_each(self, questions: Sequence[Question], *, meanwhile: Callable[[], None]) -> Answers:
        """The answers to many small questions, in order: asked in one message, answered one by one.

        Each has limits of its own. Raises as `read` does, for the question whose answer is next;
        those behind it are then not answered.
        """
        asked = [({"tool": each.tool}, each.artefacts) for each in questions]
        return self._answers(asked, current_limits(), meanwhile)

    def trace(
        self, artefacts: Sequence[LocalArtefact], *, entry: int, limits: Limits
    ) -> dict[str, Any]:
        """Where the figures of one trial come from: {"texts", "figures", "marks"} or {"refused"}.

        The marks are those of `formats.provenance`, as lists. Raises as `read` does.
        """
        return self.request(artefacts, {"tool": "", "trace": {"entry": entry}}, limits)

    def request(
        self,
        artefacts: Sequence[LocalArtefact],
        asked: dict[str, Any],
        limits: Limits,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> dict[str, Any]:
        """The child's answer to `asked`. Raises ParserFailed and StorageAway."""
        (answer,) = self._answers([(asked, artefacts)], limits, meanwhile)
        return answer

    def _answers(
        self,
        asked: Sequence[tuple[dict[str, Any], Sequence[LocalArtefact]]],
        limits: Limits,
        meanwhile: Callable[[], None],
    ) -> Answers:
        requests = [
            {**options, "artefacts": [item.as_dict() for item in artefacts]}
            for options, artefacts in asked
        ]
        waiting = len(requests)
        try:
            child = self._send(orjson.dumps({"limits": asdict(limits), "requests": requests}))
            while waiting:
                answer = self._receive(child, limits, meanwhile)
                waiting -= 1
                yield self._checked(answer, limits)
        except ChildEnded as ended:
            waiting = 0
            raise failure_of(ended, limits) from None
        finally:
            # An answer that is left would be taken for that of the next request.
            if waiting:
                self.close()

    def _checked(self, answer: dict[str, Any], limits: Limits) -> dict[str, Any]:
        if "fatal" in answer:
            self.close()
            log.error("parser_fault", extra={"traceback": answer.get("traceback")})
            raise failure_in(answer["fatal"], limits)
        if "away" in answer:
            raise StorageAway(answer["away"])
        return answer

    def _send(self, message: bytes) -> subprocess.Popen[bytes]:
        child = self._running_child()
        assert child.stdin is not None
        left = memoryview(LENGTH.pack(len(message)) + message)
        try:
            while left:  # a signal may cut a write short
                left = left[child.stdin.write(left) :]
        except BrokenPipeError:
            raise ChildEnded(self._reap(), has_read=False) from None
        return child

    def _receive(
        self, child: subprocess.Popen[bytes], limits: Limits, meanwhile: Callable[[], None]
    ) -> dict[str, Any]:
        deadline = time.monotonic() + self.patience * limits.cpu_s + GRACE_S
        self.is_at_work = True
        try:
            self._wait(child, deadline, meanwhile)
            size = LENGTH.unpack(self._read_exactly(child, LENGTH.size, deadline))[0]
            if size > OUTPUT_BYTES:
                raise ParserFailed("The parser's answer was too large.")
            body = orjson.loads(self._read_exactly(child, size, deadline))
        except (EOFError, orjson.JSONDecodeError):
            raise ChildEnded(self._reap()) from None
        finally:
            self.is_at_work = False
        return cast(dict[str, Any], body)

    def _wait(
        self, child: subprocess.Popen[bytes], deadline: float, meanwhile: Callable[[], None]
    ) -> None:
        assert child.stdout is not None
        while (left := deadline - time.monotonic()) > 0:
            if has_output(child.stdout, min(left, MEANWHILE_S)):
                return
            # A process that the child started may keep the pipe open after the child has ended.
            if has_ended(child):
                raise EOFError
            meanwhile()

    def _read_exactly(self, child: subprocess.Popen[bytes], count: int, deadline: float) -> bytes:
        assert child.stdout is not None
        out = bytearray()
        while len(out) < count:
            left = deadline - time.monotonic()
            if left <= 0 or not has_output(child.stdout, left):
                raise ParserSlow("Reading this upload took too long and was stopped.")
            piece = os.read(child.stdout.fileno(), min(count - len(out), 1 << 20))
            if not piece:
                raise EOFError
            out += piece
        return bytes(out)

    def _running_child(self) -> subprocess.Popen[bytes]:
        if self.child is None or self.child.poll() is not None:
            self.close()
            self.child = self._taken_spare() or start_child(self.command)
        return self.child

    def _taken_spare(self) -> subprocess.Popen[bytes] | None:
        """The spare, which is no spare from now on; None if there is none that runs."""
        spare, self.spare = self.spare, None
        if spare is None or spare.poll() is None:
            return spare
        close_pipes(spare)
        return None

    def _reap(self) -> Death:
        child, self.child = self.child, None
        if child is None:
            return Death(0)
        deadline = time.monotonic() + GRACE_S
        while (death := death_of(child)) is None:
            if time.monotonic() > deadline:
                child.kill()
            time.sleep(0.005)
        end_group(child)
        close_pipes(child)
        return death

    def close(self) -> None:
        """End the child, if there is one."""
        if self.child is not None:
            self.child.kill()
            self._reap()


def current_limits() -> Limits:
    """The limits of this installation."""
    return Limits(
        memory_bytes=settings.PARSE_MEMORY_BYTES,
        cpu_s=settings.PARSE_CPU_S,
        output_bytes=OUTPUT_BYTES,
        decompressed_bytes=settings.DECOMPRESSED_MAX_BYTES,
    )


_sandbox: Sandbox | None = None
_owner = 0


def sandbox() -> Sandbox:
    """The sandbox of this worker process."""
    global _sandbox, _owner
    if _sandbox is None or _owner != os.getpid():
        # After a fork the parent's child is not ours to talk to.
        _sandbox, _owner = Sandbox(), os.getpid()
        atexit.register(_sandbox.close)
    return _sandbox


def cpu_used_s() -> float:
    """CPU seconds of this process and its parser."""
    return time.process_time() + sandbox().cpu_s()
