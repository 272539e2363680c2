"""Reading files as an upload would be read, without keeping anything: what a page shows first."""

import hashlib
import shlex
import tempfile
import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast
from uuid import uuid4

from backend.formats.latency_steps import finest_step_us
from backend.ingest.envelope.envelope import Envelope
from backend.ingest.preview.dry_records import DryFile, DryRefusal, DryTrial
from backend.ingest.reading.reading import plain_record
from backend.ingest.receiving.incoming import IncomingFile, UploadTooLarge
from backend.runs.checks import check_trial
from backend.runs.measured.measured import (
    NAMED_BY,
    TrialRecord,
    check_input_of,
    load_point,
    throughput_origin_of,
)
from backend.runs.models import Host, Run
from backend.untrusted.limits import ANONYMOUS_BYTES
from backend.untrusted.sandbox.child_answers import trial_of
from backend.untrusted.sandbox.fair_slots import NOBODYS
from backend.untrusted.sandbox.parser_failures import ParserFailed
from backend.untrusted.sandbox.quick_sandbox import QUICK, QuickLimits, QuickSandbox, quick_sandbox
from backend.untrusted.sandbox.sandbox import LocalArtefact
from backend.untrusted.sandbox.slots import PREVIEWS
from backend.untrusted.secrets.cleaning import Cleaning
from backend.untrusted.secrets.rewriting import CannotClean

MAX_TRIALS = 200
TOO_LONG = "No preview: reading the other files took too long. This file is read after you save it."
SIGN_IN = "Sign in to preview larger files."


@dataclass(frozen=True, slots=True)
class DryLimits:
    """What one preview may take. `budget_s`: for all files together, without what it waits."""

    total_bytes: int
    files: int
    budget_s: float
    quick: QuickLimits


OF_MEMBERS = DryLimits(total_bytes=16 << 20, files=50, budget_s=20.0, quick=QUICK)
# Anyone on the net may ask for these. What stands beside the files in the form has 2 KiB.
OF_STRANGERS = DryLimits(
    total_bytes=ANONYMOUS_BYTES - (2 << 10),
    files=10,
    budget_s=3.0,
    quick=QuickLimits(cpu_s=2, unpacked_bytes=4 << 20),
)


def dry_run(
    files: Sequence[IncomingFile],
    envelope: Envelope,
    tool: str = "",
    *,
    limits: DryLimits = OF_MEMBERS,
    owner: Hashable = NOBODYS,
) -> list[DryFile]:
    """Read each file in the sandboxed child. Nothing is stored. `owner`: the viewer who asks, whose
    turn is one file while other viewers wait.

    Raises UploadTooLarge; TooManyPreviews while the viewer has others read, and Busy while other
    viewers have all places.
    """
    total = sum(file.size or 0 for file in files)
    if total > limits.total_bytes or len(files) > limits.files:
        raise UploadTooLarge(
            f"These {len(files)} files have {total:,} bytes; at most {limits.files} files of "
            f"{limits.total_bytes:,} bytes can be previewed.",
            hint="Save it without a preview." if limits is OF_MEMBERS else SIGN_IN,
        )
    answers: list[DryFile] = []
    with (
        PREVIEWS.take(owner),
        quick_sandbox(limits.quick) as child,
        tempfile.TemporaryDirectory(prefix="dry-run-") as folder,
    ):
        deadline = time.monotonic() + limits.budget_s
        reader = _Reader(envelope, tool, child, Path(folder), limits.quick, deadline)
        for file in files:
            if answers:
                reader.let_others_go_first()
            if reader.left_s < 0:
                answers.append(DryFile(_name(file), (), (DryRefusal(TOO_LONG),)))
            else:
                answers.append(reader.read(file))
    return answers


@dataclass(slots=True)
class _Reader:
    """Reads the files of one request, one after the other."""

    envelope: Envelope
    tool: str
    child: QuickSandbox
    folder: Path
    # Of one search or reading, while there is time until the deadline.
    quick: QuickLimits
    deadline: float
    cleaning: Cleaning = field(default_factory=Cleaning)

    def let_others_go_first(self) -> None:
        """The time until then does not count."""
        self.deadline += PREVIEWS.let_others_go_first()

    @property
    def left_s(self) -> float:
        return self.deadline - time.monotonic()

    def read(self, file: IncomingFile) -> DryFile:
        name = _name(file)
        path = self.folder / "file"
        try:
            sha256 = self._keep(file, path)
            answer = self.child.read(
                [LocalArtefact(name, path)],
                most=MAX_TRIALS,
                tool=self.tool,
                quick=self.quick.within(self.left_s),
            )
        except (ParserFailed, CannotClean) as failed:
            return DryFile(name, (), (DryRefusal(str(failed)),))
        entries = answer.get("entries") or []
        refused = [answer, *entries]
        run = _unsaved_run(self.envelope)
        trials = [trial_of(entry) for entry in entries if "trial" in entry]
        records = [plain_record(at, trial, self.envelope) for at, trial in enumerate(trials)]
        return DryFile(
            name,
            tuple(_trial(run, record) for record in records),
            tuple(_refusal(entry) for entry in refused if "refused" in entry),
            sha256,
        )

    def _keep(self, file: IncomingFile, path: Path) -> str:
        """Write the file as an upload would be kept; returns its SHA-256."""
        digest = hashlib.sha256()
        quick = self.quick.within(self.left_s)
        with path.open("wb") as out:
            for chunk in self.cleaning.cleaned(cast(IO[bytes], file.file), quick=quick):
                digest.update(chunk)
                out.write(chunk)
        return digest.hexdigest()


def _name(file: IncomingFile) -> str:
    return (file.name or "artefact")[:200]


def _refusal(entry: Mapping[str, Any]) -> DryRefusal:
    parts = entry.get("refusal")
    if parts is None:
        return DryRefusal(entry["refused"])
    return DryRefusal(parts["reason"], parts["line"], parts["found"], parts["expected"])


def _unsaved_run(envelope: Envelope) -> Run:
    server = envelope.hosts and envelope.hosts.server
    return Run(
        id=uuid4(),
        same_host=envelope.same_host,
        server_host=Host(name=server.name) if server else None,
    )


def _trial(run: Run, record: TrialRecord) -> DryTrial:
    point = load_point(record)
    figures = check_input_of(record, point, run)
    version = record.server.get("version")
    return DryTrial(
        server=" ".join(part for part in (record.server["name"], version) if part),
        is_named_by_output=NAMED_BY in (record.server.get("configuration") or {}),
        workload=record.workload["name"],
        point=point,
        figures={
            "throughput": figures.throughput_rps,
            "p50": figures.percentiles_us.get("50"),
            "p99": figures.percentiles_us.get("99"),
            "step": finest_step_us(
                point.tool, figures.latency_resolution_us, figures.percentiles_us.values()
            ),
            "error_rate": figures.error_rate,
            "requests": figures.requests_completed,
            "elapsed_s": figures.elapsed_s,
            "throughput_origin": throughput_origin_of(figures),
            "origin": figures.percentiles_origin,
        },
        findings=check_trial(figures),
        incomplete=record.parsed.incomplete,
        is_warmup=record.warmup,
        notes=record.parsed.notes,
        lines=record.parsed.lines,
        command=shlex.join(record.command),
    )
