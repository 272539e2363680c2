"""The noise of a host in sentences."""

from __future__ import annotations

from math import expm1

from backend.noise.estimate import LEAST_COMPARISONS
from backend.noise.models import HostNoise


def floor_sentence(noise: HostNoise | None) -> str:
    """Which differences the host cannot tell, or how to find out."""
    count = 0 if noise is None else noise.comparisons
    if noise is None or noise.floor_share is None:
        return (
            f"Unknown: {count} of {LEAST_COMPARISONS} A/A comparisons recorded. Run the plan that "
            "`loadsheet plan new --aa` writes on this host: it measures one server against itself."
        )
    return (
        f"This host cannot tell differences under {share_text(noise.floor_share)} (from {count} "
        f"A/A comparisons{_latest(noise)})."
    )


def run_sentence(noise: HostNoise | None) -> str:
    """How much runs differ, or what is needed to know it."""
    if noise is None or noise.run_sd is None:
        return "Unknown: no load was measured in two runs of the same server."
    plural = "" if noise.run_freedom == 1 else "s"
    basis = f"from {noise.run_freedom} comparison{plural} between runs"
    if noise.run_sd == 0:
        return f"Runs differ no more than their trials do ({basis})."
    return (
        f"Throughput varies by {share_text(expm1(noise.run_sd))} from run to run, beyond the noise "
        f"of trials (standard deviation, {basis})."
    )


def share_text(share: float) -> str:
    """`2.4 %`; a share that rounds to nothing is "0.01 %" at least."""
    percent = max(share * 100, 0.01)
    return f"{percent:.2g} %" if percent < 100 else f"{percent:.0f} %"


def _latest(noise: HostNoise) -> str:
    return "" if noise.latest is None else f", latest {noise.latest:%-d %b %Y}"
