"""Exit codes of `loadsheet`, a promise to scripts: a number here never changes its meaning."""

from enum import IntEnum


class Exit(IntEnum):
    """Each code's meaning is in MEANINGS, which `--help` prints."""

    OK = 0
    FAILED = 1
    USAGE = 2
    PLAN = 3
    NO_TOOL = 4
    TRIALS_FAILED = 5
    SPOOLED = 6
    REJECTED = 7
    HELD = 8
    UNREAD = 9
    STOPPED = 10
    UNFIT = 11
    REGRESSED = 20
    TOO_NOISY = 21
    NOT_COMPARABLE = 22
    UNREACHED = 23
    INTERRUPTED = 130


MEANINGS = {
    Exit.OK: "done",
    Exit.FAILED: "unexpected failure",
    Exit.USAGE: "wrong command line, missing file or missing token",
    Exit.PLAN: "the plan is wrong; nothing ran",
    Exit.NO_TOOL: "no load tool that can do the plan is installed; nothing ran",
    Exit.TRIALS_FAILED: "done and uploaded, but some trials have an error",
    Exit.SPOOLED: "the service was not reached; the result waits in the spool",
    Exit.REJECTED: "the service refused the upload for good; see rejected/ in the spool",
    Exit.HELD: "the service refused the token or the address; the result waits in the spool",
    Exit.UNREAD: "stored, but the service could not read it",
    Exit.STOPPED: "a rule of the plan ended the run early; finished trials were kept or uploaded",
    Exit.UNFIT: "doctor found something that would spoil a measurement",
    Exit.REGRESSED: "check: a requirement is broken",
    Exit.TOO_NOISY: "check: too noisy or too few trials to call; the answer says what to measure",
    Exit.NOT_COMPARABLE: "check: not comparable with the baseline, or there is no baseline yet",
    Exit.UNREACHED: "check: the service gave no verdict: not reached, or it refused the token",
    Exit.INTERRUPTED: "interrupted; finished trials wait in the spool",
}
