"""The parent's side of the child that takes secrets out of files."""

import atexit
import logging
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings

from backend.untrusted.json.json_pieces import STORED_LEVELS, decode
from backend.untrusted.limits import search_memory_bytes
from backend.untrusted.sandbox.child import Limits
from backend.untrusted.sandbox.parser_failures import ParserDied, ParserFailed
from backend.untrusted.sandbox.quick_sandbox import QuickLimits
from backend.untrusted.sandbox.sandbox import USUAL_PATIENCE, Sandbox, current_limits
from backend.untrusted.secrets.cleaner_refusals import ATTEMPTS, refusal_in, refusal_of, sentence_of

log = logging.getLogger(__name__)

# A mark may be longer than the secret it stands for.
GROWTH = 3
# A megabyte of the worst text takes half a second.
SHORT_CPU_S = 10
# Nearly every small archive is searched in less.
ATTEMPT_CPU_S = 1
NICENESS = 10
# As USUAL_PATIENCE, of a child that others go before.
NICE_PATIENCE = 4


class Cleaner:
    """One child at a time; a dead one is replaced at the next request.

    What may take minutes goes behind requests and beside the readers, which are as nice.
    """

    def __init__(self, *, is_short: bool = False) -> None:
        command = [sys.executable, "-m", "backend.untrusted.secrets.clean_child"]
        if not is_short:
            command.append(f"--nice={NICENESS}")
        patience = USUAL_PATIENCE if is_short else NICE_PATIENCE
        self._child = Sandbox(command, patience=patience)
        self._pid = os.getpid()
        self.is_short = is_short
        atexit.register(self.close)

    @property
    def is_ours(self) -> bool:
        """After a fork the parent's child is not ours to talk to."""
        return self._pid == os.getpid()

    def clean_file(self, source: Path, target: Path, quick: QuickLimits | None = None) -> bool:
        """Whether the file held a secret; `target` then holds it without.

        `quick`: the limits of a preview. Raises CannotClean and CleanerInterrupted.
        """
        answer = self._ask({"source": str(source), "target": str(target)}, quick)
        return bool(answer["changed"])

    def try_file(self, source: Path, target: Path) -> bool | None:
        """As `clean_file`; None where it takes longer than ATTEMPT_CPU_S."""
        request = {"source": str(source), "target": str(target)}
        limits = replace(self._limits(), cpu_s=ATTEMPT_CPU_S)
        try:
            answer = self._child.request([], request, limits)
        except ParserFailed:
            # Also another failure: it is told by the search that has time enough.
            return None
        return None if "refused" in answer else bool(answer["changed"])

    def clean_json(self, value: Any) -> Any:
        """JSON without secrets. Raises as `clean_file` does."""
        cleaned: str | None = self._ask({"json": value})["json"]
        return value if cleaned is None else decode(cleaned.encode(), levels=STORED_LEVELS)

    def _ask(self, request: dict[str, Any], quick: QuickLimits | None = None) -> dict[str, Any]:
        limits = self._limits()
        if quick is not None:
            limits = quick.lower(limits)
        try:
            answer = self._answer(request, limits)
        except ParserFailed as failed:
            raise refusal_of(failed, limits, is_preview=quick is not None) from None
        if "refused" in answer:
            raise refusal_in(answer, limits, is_preview=quick is not None)
        return answer

    def _limits(self) -> Limits:
        usual = current_limits()
        return replace(
            usual,
            cpu_s=min(SHORT_CPU_S, usual.cpu_s) if self.is_short else usual.cpu_s,
            memory_bytes=search_memory_bytes(),
            file_bytes=GROWTH * settings.UPLOAD_MAX_BYTES,
        )

    def _answer(self, request: dict[str, Any], limits: Limits, attempt: int = 1) -> dict[str, Any]:
        try:
            return self._child.request([], request, limits)
        except ParserDied as died:
            log.warning("cleaner_died", extra={"reason": sentence_of(died.death, limits)})
            if attempt == ATTEMPTS:
                raise
        return self._answer(request, limits, attempt + 1)

    def close(self) -> None:
        if self.is_ours:
            self._child.close()
