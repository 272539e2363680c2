"""Ratios in sentences: no finer than their intervals, and no coarser than what they say."""

from math import floor, log10

from backend.stats import Ratio

# Of a bound that lies close to 1×, and of bounds that lie close together.
MOST_DIGITS = 5


def ratio_text(ratio: Ratio) -> str:
    """`1.62× [1.55, 1.70]`, no finer than its interval; without an interval, the ratio alone.

    Bounds that three digits do not tell apart have more: `1.100× [1.098, 1.103]`.
    """
    if ratio.value is None:
        return "unknown"
    if ratio.low is None or ratio.high is None:
        return f"{factor_text(ratio.value)}×"
    half = (ratio.high - ratio.low) / 2
    low, high = _bound(ratio.low, half), _bound(ratio.high, half)
    if low != high or ratio.low == ratio.high:
        return f"{factor_text(ratio.value, half)}× [{low}, {high}]"
    return _finer_text(ratio.value, ratio.low, ratio.high)


def _finer_text(value: float, low: float, high: float) -> str:
    """With as many digits as tell the bounds apart, five at most."""
    for count in range(4, MOST_DIGITS + 1):
        texts = [_digits(each, count) for each in (value, low, high)]
        if texts[1] != texts[2]:
            break
    return f"{texts[0]}× [{texts[1]}, {texts[2]}]"


def _bound(value: float, half: float) -> str:
    """A bound beside 1× is not rounded onto it: it says whether the difference is significant."""
    texts = [
        factor_text(value, half),
        *(_digits(value, count) for count in range(3, MOST_DIGITS + 1)),
    ]
    return next((text for text in texts if float(text) != 1), texts[0])


def factor_text(value: float, half: float = 0.0) -> str:
    """Three digits; two where the third is finer than a hundredth of half the interval."""
    step = 10.0 ** (floor(log10(value)) - 2) if value > 0 else 0.0
    return _digits(value, 2 if step < half / 100 else 3)


def _digits(value: float, count: int) -> str:
    """So many significant digits, without an exponent."""
    if value == 0:
        return "0"
    decimals = count - 1 - floor(log10(value))
    return f"{round(value, decimals):.{max(decimals, 0)}f}"
