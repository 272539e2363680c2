"""How figures stand in the sentence of a finding."""


def percent_text(share: float, *, sign: bool = False) -> str:
    """`3.12 %` of a share."""
    return f"{share * 100:{'+' if sign else ''}.3g} %"


def time_text(microseconds: float) -> str:
    """`59 ms`: a latency in the unit that suits its size."""
    if microseconds >= 1e6:
        return f"{microseconds / 1e6:.4g} s"
    return f"{microseconds / 1e3:.4g} ms" if microseconds >= 1e3 else f"{microseconds:.4g} µs"


def rate_text(rate_rps: float) -> str:
    """`1,234.56`: six digits, and each digit before the point of a larger number."""
    return f"{rate_rps:,.6g}" if rate_rps < 999_999.5 else f"{rate_rps:,.0f}"
