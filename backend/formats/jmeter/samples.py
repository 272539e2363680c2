"""JMeter's samples, row by row or as XML elements, gathered into one trial."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from backend.formats.model import CLIENT_CLASS, FormatError, ParsedTrial
from backend.formats.numbers import LONGEST_MS
from backend.formats.timeline import Gathering
from backend.formats.transport_errors import is_client_error

if TYPE_CHECKING:
    import polars as pl

RESOLUTION_US = 1000
# Times are ms since 1970, up to the year 2200.
LATEST_MS = 7_258_118_400_000
# Rows of the chunk before that are looked at for the parent of a redirect.
LOOK_BACK = 2000
# Names of errors kept apart; messages may hold what differs in each row.
MOST_ERRORS = 200
TRANSACTION = "Number of samples in transaction"
# The class of a Java exception by the end of its name; "" stands for what is not listed.
CONNECT = ("ConnectException", "UnknownHostException", "NoRouteToHostException")
TIMEOUT = ("TimeoutException", "InterruptedIOException")
READ = ("SocketException", "NoHttpResponseException", "EOFException", "ChunkException")
READ_ENDS = (*READ, "ChunkCodingException", "ConnectionClosedException")


def error_class(code: str, message: str) -> str:
    """Ours for JMeter's "Non HTTP response code: <exception>" and its message."""
    if code.endswith("BindException") or is_client_error(message):
        return CLIENT_CLASS
    if "timed out" in message or code.endswith(TIMEOUT):
        return "timeout"
    if "Broken pipe" in message:
        return "write"
    if code.endswith((*CONNECT, "SSLHandshakeException")):
        return "connect"
    return "read" if code.endswith(READ_ENDS) else "other"


Threads = Callable[[], "pl.Series | None"]


class Samples:
    """Samples added a frame at a time; columns are named as in a JTL, any may be missing."""

    def __init__(self) -> None:
        self.requests = Gathering()
        self.count = self.ok = self.completed = self.transactions = self.bytes = 0
        self.codes: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.names: Counter[str] = Counter()
        self.urls: set[str] = set()
        self.columns: set[str] = set()
        # The rows before these, as they came: the parent of a part may be among them.
        self._before: tuple[pl.DataFrame, Threads] | None = None

    def add(
        self, frame: pl.DataFrame, line: int | None = None, threads: Threads = lambda: None
    ) -> None:
        """Add samples; transactions and the parts of a redirect are no requests of their own."""
        self._refuse_impossible(frame, line)
        self.columns |= set(frame.columns)
        rows = self._without_transactions(self._without_parts(frame, threads), count=True)
        if not len(rows):
            return
        answered, failed = self._outcomes(rows)
        self.requests.add(
            rows["elapsed"].to_numpy() * 1000,
            start_s=rows["timeStamp"].to_numpy() / 1000 if "timeStamp" in rows.columns else None,
            failed=failed,
            responded=answered,
            timed=np.ones(len(rows), dtype=bool),
        )
        self.count += len(rows)
        self._note_urls(rows)

    def _refuse_impossible(self, frame: pl.DataFrame, line: int | None) -> None:
        limits = {"elapsed": LONGEST_MS, "timeStamp": LATEST_MS, "bytes": 1 << 50}
        for name, most in limits.items():
            if name not in frame.columns:
                continue
            outside = ~frame[name].is_between(0, most).fill_null(value=True)
            if outside.any():
                at = int(outside.arg_max() or 0)
                value = int(frame[name][at])
                raise _impossible(name, value, most, None if line is None else line + at)
        if "SampleCount" in frame.columns and frame["SampleCount"].max() not in (None, 0, 1):
            raise FormatError(
                "The JMeter JTL has rows that stand for several samples.",
                found=f"SampleCount {frame['SampleCount'].max()!r}",
                expected="a row for each sample (mode=Standard in a remote test)",
            )

    def _without_transactions(self, frame: pl.DataFrame, *, count: bool = False) -> pl.DataFrame:
        """Rows of a transaction controller are sums of other rows."""
        if "responseMessage" in frame.columns:
            sums = frame["responseMessage"].str.starts_with(TRANSACTION).fill_null(value=False)
        elif {"URL", "dataType"} <= set(frame.columns):
            sums = (frame["URL"] == "null") & (frame["dataType"].fill_null("") == "")
        else:
            return frame
        if not sums.any():
            return frame
        self.transactions += int(sums.sum()) if count else 0
        return frame.filter(~sums)

    def _without_parts(self, frame: pl.DataFrame, threads: Threads) -> pl.DataFrame:
        """Without the rows of redirects and embedded resources, which belong to the row before.

        JMeter names them "label-0", "label-1" …, in the thread and the time of their parent.
        """
        before, self._before = self._before, (frame, threads)
        if "label" not in frame.columns:
            return frame
        if not frame["label"].unique().str.contains("-[0-9]+$").any():
            return frame
        if "timeStamp" not in frame.columns:
            return _refuse_parts(frame)
        import polars as pl

        chunks = [_with_threads(*chunk) for chunk in (before, self._before) if chunk]
        if chunks[-1] is None:
            return frame
        tails = [chunk.tail(LOOK_BACK) for chunk in chunks[:-1] if chunk is not None]
        seen = self._without_transactions(pl.concat([*tails, chunks[-1]]))
        names = _part_names(seen)
        rows = self._without_transactions(chunks[-1])
        return rows.filter(~_parts(seen, names).tail(len(rows))) if names else rows

    def _outcomes(self, rows: pl.DataFrame) -> tuple[Any, Any]:
        """Which rows are answers and which failed; None for failed where it is not said."""
        import polars as pl

        everything = np.ones(len(rows), dtype=bool)
        numeric = pl.Series(everything)
        if "responseCode" in rows.columns:
            codes = rows["responseCode"].fill_null("")
            numeric = self._count_codes(rows.with_columns(codes.alias("responseCode")))
        if "success" in rows.columns:
            success = self._success(rows["success"])
        elif "responseCode" in rows.columns:
            success = rows["responseCode"].str.contains("^[23]").fill_null(value=False)
        else:
            return numeric.to_numpy(), None
        self.ok += int(success.sum())
        if not success.all():
            self._count_failures(rows.filter(~success))
        return numeric.to_numpy(), ~success.to_numpy()

    def _success(self, cells: pl.Series) -> pl.Series:
        is_true = (cells == "true").fill_null(value=False)
        if int(is_true.sum()) + int((cells == "false").sum()) < len(cells):
            words = set(cells.unique().to_list()) - {"true", "false"}
            raise FormatError(
                "The JMeter JTL has a success that is neither true nor false.",
                found=str(next(iter(words))),
                expected="true or false",
            )
        return is_true

    def _count_codes(self, rows: pl.DataFrame) -> pl.Series:
        import polars as pl

        counts = _counts(rows["responseCode"])
        numeric = {code: count for code, count in counts.items() if _is_numeric(code)}
        self.codes.update(numeric)
        self.completed += sum(numeric.values())
        is_answer = pl.repeat(value=True, n=len(rows), eager=True)
        if len(numeric) < len(counts):
            is_answer = rows["responseCode"].is_in(list(numeric))
        if "bytes" in rows.columns:
            self.bytes += int((rows["bytes"] * is_answer.cast(pl.Int64)).sum() or 0)
        return is_answer

    def _count_failures(self, rows: pl.DataFrame) -> None:
        named = ("responseCode", "responseMessage", "failureMessage")
        keys = [name for name in named if name in rows.columns]
        if not keys:
            return
        for group in rows.group_by(keys).len("count").iter_rows(named=True):
            class_, name = _failure(*(group.get(key) or "" for key in named))
            self.errors[class_] += group["count"]
            if name:
                is_kept = name in self.names or len(self.names) < MOST_ERRORS
                self.names[name if is_kept else "others"] += group["count"]

    def _note_urls(self, rows: pl.DataFrame) -> None:
        if "URL" not in rows.columns or len(self.urls) > 1:
            return
        urls = rows["URL"].drop_nulls()
        if len(urls) and not (urls == urls[0]).all():
            self.urls |= set(urls.unique().head(3).to_list())
        elif len(urls):
            self.urls.add(urls[0])
        self.urls -= {"null", ""}

    def trial(self, *, incomplete: bool = False) -> ParsedTrial:
        """What the samples say together; raises FormatError if there are none."""
        requests = self.requests
        if not self.count:
            raise self._no_samples()
        has_codes = "responseCode" in self.columns
        return ParsedTrial(
            url=next(iter(self.urls)) if len(self.urls) == 1 else None,
            loop=None,
            elapsed_s=requests.elapsed_s(3),
            requests_completed=self.completed if has_codes else None,
            **self._outcome(),
            bytes_received=self.bytes if {"bytes", "responseCode"} <= self.columns else None,
            errors=self._errors() if has_codes else {},
            tool_errors=dict(sorted(self.names.items())),
            status_counts=dict(sorted(self.codes.items())) if has_codes else None,
            latency=requests.latency,
            latency_origin="samples",
            latency_resolution_us=RESOLUTION_US,
            samples=self.count,
            histogram=requests.histogram,
            timeline=requests.timeline() if has_codes else (),
            incomplete=incomplete,
        )

    def _outcome(self) -> dict[str, Any]:
        """Successes, attempts and failed attempts, where the rows say what failed."""
        if not self.columns & {"responseCode", "success"}:
            return {}
        return {
            "requests_ok": self.ok,
            "attempts": self.count,
            "failed": self.count - self.ok,
        }

    def _errors(self) -> dict[str, int | None]:
        classes = ("connect", "read", "timeout", "status", "other", CLIENT_CLASS)
        return {
            **{name: self.errors[name] for name in classes},
            # No exception means a failed write alone, so 0 seen does not mean 0 failed writes.
            "write": self.errors["write"] or None,
        }

    def _no_samples(self) -> FormatError:
        sums = f"{self.transactions} rows of transaction controllers"
        return FormatError(
            "The JMeter JTL has no samples.",
            found=sums if self.transactions else "no row",
            expected="a row for each request",
        )


def _counts(values: pl.Series) -> dict[str, int]:
    """How often each text stands there; most are the first one, which needs no table."""
    usual = values == values[0]
    counts = dict(values.filter(~usual).value_counts().iter_rows())
    return {values[0]: int(usual.sum()), **counts}


def _is_numeric(code: str) -> bool:
    return code.isascii() and code.isdigit() and len(code) <= 4


def _failure(code: str, message: str, failure: str) -> tuple[str, str]:
    """The class of a failed sample, and its name; "" for a status that says it all."""
    if not _is_numeric(code):
        return error_class(code, message), f"{code}/{message}" if message else code
    if int(code) >= 400:
        return "status", failure
    return "other", failure or f"{code}/{message}"


def _part_names(frame: pl.DataFrame) -> list[str]:
    """The labels that a redirect or an embedded resource may have: "parent-0" beside "parent"."""
    labels = set(frame["label"].unique().drop_nulls().to_list())
    return sorted(label for label in labels if _is_part_name(label, labels))


def _is_part_name(label: str, labels: set[str]) -> bool:
    parent, _, number = label.rpartition("-")
    return number.isdigit() and parent in labels


def _refuse_parts(frame: pl.DataFrame) -> pl.DataFrame:
    """The same rows, if none can be a part of another: without times that cannot be told."""
    names = _part_names(frame)
    if not names:
        return frame
    raise FormatError(
        "The JMeter JTL has rows that may be parts of others, but no times to tell them apart.",
        found=names[0],
        expected="time stamps in ms since 1970, or as a date with a time",
    )


def _with_threads(frame: pl.DataFrame, threads: Threads) -> pl.DataFrame | None:
    names = threads()
    return None if names is None else frame.with_columns(names.alias("threadName"))


def _parts(rows: pl.DataFrame, named: list[str]) -> pl.Series:
    """Which rows are parts of the row that stands before them in their thread."""
    import polars as pl

    label, start = pl.col("label"), pl.col("timeStamp")
    end = start + pl.col("elapsed")
    is_top = ~label.is_in(named)

    def of_parent(value: pl.Expr) -> pl.Expr:
        return pl.when(is_top).then(value).forward_fill().over("threadName")

    within = (start >= of_parent(start)) & (end <= of_parent(end))
    of_its_name = label.str.starts_with(of_parent(pl.concat_str(label, pl.lit("-"))))
    return rows.select(part=(~is_top & within & of_its_name).fill_null(value=False))["part"]


def _impossible(name: str, found: int, most: int, line: int | None) -> FormatError:
    return FormatError(
        f"The JMeter JTL has an impossible {name}.",
        line=line,
        found=str(found),
        expected=f"a whole number from 0 to {most}",
    )
