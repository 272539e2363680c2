"""A trial in which everything fits together, and the checks that fire on a trial."""

from backend.runs.checks import CheckInput, check_trial

# 8 connections × 1 000 requests/s each at 1 ms: everything fits together.
SOUND = CheckInput(
    tool="oha",
    loop="closed",
    connections=8,
    keepalive=True,
    elapsed_s=10.0,
    lasted_s=10.0,
    requests_completed=80_000,
    requests_ok=80_000,
    attempts_most=80_000,
    throughput_rps=8_000.0,
    reported_rps=8_010.0,
    error_rate=0.0,
    errors={"connect": 0, "timeout": None},
    status_counts={"200": 80_000},
    latency_mean_us=1_003.0,
    latency_min_us=211.0,
    latency_max_us=9_137.0,
    percentiles_us={"50": 934.0, "90": 1_507.0, "99": 2_411.0, "99.9": 5_023.0},
    percentiles_origin="computed",
    latency_resolution_us=1.0,
    server_version="23.0",
    host_known=True,
    same_host=False,
    exit_code=0,
)


def fired(facts):
    return {finding.id for finding in check_trial(facts)}
