"""Figures that a load tool derives from others of its report, held against these."""

from collections.abc import Iterator
from dataclasses import replace

from backend.formats.model import ParsedTrial

# Tools round to three digits: the two sides differ by at most 1 % where nobody edited them.
TOLERANCE = 0.02


def with_derived_compared(
    trial: ParsedTrial, *, request_ms: float | None = None, step_ms: float = 0.0
) -> ParsedTrial:
    """The trial, with the contradictions among its figures.

    `request_ms`: the printed time of a request, in steps of `step_ms`: connections × elapsed ÷
    completed.
    """
    found = (*_transfer(trial), *_request_time(trial, request_ms, step_ms))
    return replace(trial, disagreements=(*trial.disagreements, *found)) if found else trial


def _transfer(trial: ParsedTrial) -> Iterator[str]:
    received, printed, elapsed_s = (
        trial.bytes_received,
        trial.transfer_rate_bytes_s,
        trial.measured_s,
    )
    if not received or not printed or not elapsed_s:
        return
    if abs(received / elapsed_s / printed - 1) > TOLERANCE:
        yield (
            f"{received:,} bytes in {elapsed_s:.4g} s make {received / elapsed_s:,.0f} bytes/s, "
            f"but the output says {printed:,.0f} bytes/s."
        )


def _request_time(trial: ParsedTrial, request_ms: float | None, step_ms: float) -> Iterator[str]:
    completed, elapsed_s = trial.requests_completed, trial.measured_s
    if not request_ms or not completed or not elapsed_s or not trial.connections:
        return
    derived_ms = trial.connections * elapsed_s * 1000 / completed
    if abs(derived_ms - request_ms) > TOLERANCE * request_ms + step_ms:
        yield (
            f"{trial.connections} × {elapsed_s:.4g} s ÷ {completed:,} requests make "
            f"{derived_ms:.4g} ms per request, but the output says {request_ms:.4g} ms."
        )
