"""The row of one trial, made of what was read."""

from typing import Any

from backend.runs.checks import CheckInput, check_trial
from backend.runs.measured.evidence import printed_facts
from backend.runs.measured.measured import TrialRecord
from backend.runs.models import Cell, Run, Trial

# The figures that a trial's row has from what its checks read, under the same names.
FIGURES = (
    *("elapsed_s", "requests_completed", "requests_ok", "throughput_rps", "goodput_rps"),
    *("attempts", "failed", "error_rate", "reported_rps"),
    *("latency_mean_us", "latency_min_us", "latency_max_us"),
    *("percentiles_origin", "latency_resolution_us"),
)


def trial_row(run: Run, cell: Cell, record: TrialRecord, figures: CheckInput) -> Trial:
    """The row, not saved. `figures`: what the checks read of the trial."""
    parsed = record.parsed
    return Trial(
        run=run,
        cell=cell,
        ordinal=record.ordinal,
        repeat=record.repeat,
        warmup=record.warmup,
        started_at=record.started_at,
        finished_at=record.finished_at,
        command=list(record.command),
        exit_code=record.exit_code,
        error=record.error,
        incomplete=parsed.incomplete,
        **{name: getattr(figures, name) for name in FIGURES},
        bytes_received=parsed.bytes_received,
        errors=dict(figures.errors),
        tool_errors=dict(parsed.tool_errors),
        status_counts=parsed.status_counts,
        percentiles_us=dict(figures.percentiles_us),
        histogram=record.histogram,
        resources=dict(record.resources),
        load=dict(record.load),
        phase=record.phase,
        glance=dict(record.glance),
        server_tail=record.server_tail,
        checks=[finding.as_dict() for finding in check_trial(figures)],
        **({} if record.reading is None else _evidence(record)),
    )


def _evidence(record: TrialRecord) -> dict[str, Any]:
    """The columns that hold what was read."""
    return {
        "output_sha256": record.output_sha256,
        "printed": printed_facts(record),
        "parsed": record.parsed.as_dict(),
    }
