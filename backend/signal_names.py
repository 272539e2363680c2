"""The name of the signal that ended a process."""

import signal


def signal_name(number: int) -> str:
    """Such as SIGKILL; "signal 40" of one without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
