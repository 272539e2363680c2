"""The noise of a host in sentences."""

from math import expm1

from backend.noise.estimate import LEAST_COMPARISONS
from backend.noise.models import HostNoise

AA_COMMAND = "loadsheet plan new --aa"


def floor_sentence(noise: HostNoise | None) -> str:
    """Which differences the host cannot tell; where unknown, how many comparisons there are."""
    count = 0 if noise is None else noise.comparisons
    if noise is None or noise.floor_share is None:
        return f"Noise floor unknown: {count} of {LEAST_COMPARISONS} A/A comparisons recorded."
    return (
        f"This host cannot show differences under {share_text(noise.floor_share)} (from {count} "
        f"A/A comparisons{_latest(noise)})."
    )


def run_sentence(noise: HostNoise | None) -> str:
    """How much runs differ; where unknown, what is needed to know it."""
    if noise is None or noise.run_sd is None:
        return "Run-to-run variation unknown: no server was measured twice here at the same load."
    plural = "" if noise.run_freedom == 1 else "s"
    basis = f"from {noise.run_freedom} comparison{plural} between runs"
    if noise.run_sd == 0:
        return f"Runs differ no more than their trials do ({basis})."
    return (
        f"Throughput varies by {share_text(expm1(noise.run_sd))} from run to run, beyond the noise "
        f"of trials (standard deviation, {basis})."
    )


def share_text(share: float) -> str:
    """`2.4 %`; `< 0.01 %` for less."""
    percent = share * 100
    if percent < 0.01:
        return "< 0.01 %"
    return f"{percent:.2g} %" if percent < 100 else f"{percent:.0f} %"


def difference_text(log_difference: float) -> str:
    """`+0.8 %`: side B against side A."""
    return f"{expm1(log_difference):+.1%}".replace("%", " %").replace("-", "−")


def _latest(noise: HostNoise) -> str:
    return "" if noise.latest is None else f", latest {noise.latest:%-d %b %Y}"
