"""The rate that vegeta was asked for, which it does not print, by the times at which it sent."""

# A rate that was asked for is kept this well by a client with a free processor.
JITTER = 0.005
MOST_DIGITS = 6


def sent_rate(count: int, span_s: float | None) -> float | None:
    """Requests sent per second, where the first and the last of `count` began `span_s` apart."""
    return (count - 1) / span_s if count > 1 and span_s else None


def offered_rate(count: int, span_s: float | None) -> float | None:
    """The roundest rate that explains what was sent; None if too little was.

    An attack lasts whole seconds mostly, and sends the same number of requests in each.
    """
    sent_rps = sent_rate(count, span_s)
    if sent_rps is None:
        return None
    seconds = round(count / sent_rps)
    if seconds and count % seconds == 0 and _are_alike(count / seconds, sent_rps):
        return count / seconds
    rates = (float(f"{sent_rps:.{digits}g}") for digits in range(1, MOST_DIGITS + 1))
    return next((rate for rate in rates if _are_alike(rate, sent_rps)), sent_rps)


def _are_alike(rate: float, other: float) -> bool:
    return abs(rate / other - 1) <= JITTER
