"""Gathering k6's requests: what each of a log's http_req_duration points says."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from backend.formats.k6.summary import sent_share
from backend.formats.model import CLIENT_CLASS, UNANSWERED_CLASSES, FormatError, ParsedTrial
from backend.formats.numbers import LONGEST_MS
from backend.formats.statuses import failed
from backend.formats.timeline import Gathering
from backend.formats.transport_errors import is_client_error

if TYPE_CHECKING:
    import polars as pl

DURATION = "http_req_duration"
RESOLUTION_US = 0.001
# Error texts name ports: where there are more than these, k6's error codes are the names.
MOST_TEXTS = 50
# Status of a request that got no response.
NO_RESPONSE = "0"
CLASSES = (*UNANSWERED_CLASSES, "status", CLIENT_CLASS)
# By class, as they are tried: how an error begins, and words in it.
WORDS: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("timeout", (), ("timeout", "deadline")),
    ("connect", (), ("dial", "refused", "lookup", "tls")),
    ("write", ("write",), ("broken pipe",)),
    ("read", ("read",), ("eof", "reset")),
)
# k6's error codes; for those left out, the text has to tell.
CODES = {
    **dict.fromkeys(("1050", "1211"), "timeout"),
    **dict.fromkeys(("1100", "1101", "1110", "1111", "1210", "1212", "1213"), "connect"),
    **dict.fromkeys(("1300", "1301", "1310", "1311"), "connect"),
    "1201": "write",
}


class Requests:
    """The requests of a log, added chunk by chunk."""

    def __init__(self) -> None:
        self.gathering = Gathering()
        # Unjudged: neither a status nor what was expected is among the tags.
        self.rows = self.ok = self.unjudged = 0
        self.sums: Counter[str] = Counter()
        self.checks_failed: int | None = None
        self.statuses: Counter[str | None] = Counter()
        self.classes: Counter[str] = Counter()
        self.texts: Counter[str] = Counter()
        self.codes: Counter[str] = Counter()
        self.urls: set[str | None] = set()

    def count(self, name: str, values: pl.Series) -> None:
        """Add the values of a metric's points; of checks, count those that failed."""
        if values.null_count() or not np.isfinite(values.to_numpy()).all():
            raise _bad_value(name, "none, or no finite number")
        self.sums[name] += round(values.sum())
        if name == "checks" and len(values):
            self.checks_failed = (self.checks_failed or 0) + int((values == 0).sum())

    def add(self, frame: pl.DataFrame) -> None:
        """Add requests: `end_s`, `milliseconds`, and the tags as texts or null, a row each."""
        if not len(frame):
            return
        milliseconds, end_s = frame["milliseconds"], frame["end_s"]
        if milliseconds.null_count() or end_s.null_count():
            raise _bad_value(DURATION, "no time or no value")
        values = milliseconds.to_numpy()
        if not (np.isfinite(values).all() and values.min() >= 0 and values.max() <= LONGEST_MS):
            raise _bad_value(DURATION, f"{values.min()} to {values.max()} ms")
        answered, ok = self._add_tags(frame)
        self.rows += len(frame)
        self.ok += int(ok.sum())
        self.gathering.add(
            values * 1000,
            start_s=end_s.to_numpy() - values / 1000,
            failed=~ok,
            responded=answered,
        )

    def _add_tags(self, frame: pl.DataFrame) -> tuple[Any, Any]:
        """Which requests were answered, and which of these as expected."""
        import polars as pl

        status = frame["status"].cast(pl.Int64, strict=False)
        if status.null_count() != frame["status"].null_count():
            raise _bad_value(DURATION, "a status that is not a number")
        self.statuses.update(dict(frame["status"].value_counts().rows()))
        self.urls.update(frame["url"].unique().head(2).to_list())
        self._add_failures(frame.filter(frame["status"] == NO_RESPONSE))
        answered = frame["status"].ne_missing(NO_RESPONSE)
        expected = frame["expected_response"]
        # k6 before 0.31 does not say what was expected: 200 to 399, as it does by default now.
        ok = (expected == "true").fill_null(status.is_between(200, 399))
        self.unjudged += ok.null_count()
        ok = ok.fill_null(value=False)
        return answered.to_numpy(), (ok & answered).to_numpy()

    def _add_failures(self, unanswered: pl.DataFrame) -> None:
        for code, text, count in unanswered.group_by("error_code", "error").len().rows():
            self.classes[_class_of(code, text or "")] += count
            self.codes[f"error_code {code}"] += count
            if len(self.texts) <= MOST_TEXTS:
                self.texts[text or f"error_code {code}"] += count

    def trial(self, *, was_cut: bool) -> ParsedTrial:
        """The trial of all that was added; raises FormatError where that was no request."""
        if not self.rows:
            raise FormatError(
                "The k6 log has no request.",
                found=f"no point of {DURATION}",
                expected=f"points of {DURATION}: a script that makes HTTP requests",
            )
        has_statuses = None not in self.statuses
        dropped = self.sums["dropped_iterations"]
        return ParsedTrial(
            url=next(iter(self.urls)) if len(self.urls) == 1 else None,
            loop="open" if dropped else None,
            sent_share=sent_share(self.sums["iterations"], dropped),
            requests_completed=self.gathering.completed if has_statuses else None,
            **self._outcome(has_statuses=has_statuses),
            bytes_received=self.sums["data_received"],
            errors=self._errors() if has_statuses else {},
            tool_errors=self._tool_errors(dropped),
            status_counts=self._status_counts() if has_statuses else None,
            disagreements=self._disagreements(),
            incomplete=was_cut,
            **self.gathering.sampled(RESOLUTION_US, samples=self.rows),
        )

    def _outcome(self, *, has_statuses: bool) -> dict[str, Any]:
        """The successes, and without the statuses all attempts and the failed ones."""
        if self.unjudged:
            return {}
        counts = {} if has_statuses else {"attempts": self.rows, "failed": self.rows - self.ok}
        return {"requests_ok": self.ok, **counts}

    def _status_counts(self) -> dict[str, int]:
        return {
            status: count
            for status, count in sorted(self.statuses.items(), key=str)
            if status is not None and status != NO_RESPONSE
        }

    def _errors(self) -> dict[str, int | None]:
        errors: dict[str, int | None] = {name: self.classes[name] for name in CLASSES}
        errors["status"] = failed(self._status_counts())
        return errors

    def _tool_errors(self, dropped: int) -> dict[str, int]:
        counts = dict(self.texts if len(self.texts) <= MOST_TEXTS else self.codes)
        if self.checks_failed is not None:
            counts["checks_failed"] = self.checks_failed
        if dropped:
            counts["dropped_iterations"] = dropped
        return counts

    def _disagreements(self) -> tuple[str, ...]:
        attempts = self.sums["http_reqs"]
        # The count of a request stands before its duration, so a log cut there has one more.
        if attempts in (self.rows, self.rows + 1):
            return ()
        return (f"{attempts} requests were counted, {self.rows} have a duration",)


def _class_of(code: str | None, text: str) -> str:
    if is_client_error(text):
        return CLIENT_CLASS
    return CODES.get(code or "") or _class_of_text(text)


def _class_of_text(text: str) -> str:
    """The class of an error by its words, for codes that several kinds of error share."""
    lowered = text.lower()
    for class_, starts, words in WORDS:
        if lowered.startswith(starts) or any(word in lowered for word in words):
            return class_
    return "other"


def _bad_value(name: str, found: str) -> FormatError:
    return FormatError(
        f"The k6 log has an impossible value of {name}.",
        found=found,
        expected="a time, and a value that a clock or a counter gives",
    )
