"""The elapsed time that a printed rate implies, where the printed time is rounded more."""

MICROSECOND = 1e-6


def implied_elapsed_s(
    elapsed_s: float | None,
    *,
    step_s: float,
    count: int | None,
    rate_rps: float | None,
    rate_step: float,
) -> float | None:
    """The seconds in which `count` requests make `rate_rps`; None if the printed time is finer.

    Tools compute their rate from the exact time, of which they print two or three digits. `step_s`
    and `rate_step` are the smallest steps that the output can show. None as well where rate and
    time contradict each other: then the rate counts something else.
    """
    if not elapsed_s or not count or not rate_rps:
        return None
    implied = count / rate_rps
    width = implied * rate_step / rate_rps
    # A tool that cuts digits off is a whole step below.
    if width >= step_s or abs(implied - elapsed_s) > step_s + width / 2 + MICROSECOND:
        return None
    return round(implied, 9)
