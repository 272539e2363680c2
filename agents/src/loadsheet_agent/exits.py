"""Exit codes of `loadsheet`, a promise to scripts: a number here never changes its meaning."""

from enum import IntEnum


class Exit(IntEnum):
    OK = 0
    FAILED = 1  # something the agent does not know how to explain better
    USAGE = 2  # wrong command line, missing file or token
    PLAN = 3  # the plan cannot be carried out as written; nothing ran
    NO_TOOL = 4  # no load tool that can do the plan was found; nothing ran
    TRIALS_FAILED = 5  # the run is complete and uploaded, but some trials carry an error
    SPOOLED = 6  # the service was not reached in time; the result waits in the spool
    REJECTED = 7  # the service refused the upload for good; it is in rejected/
    HELD = 8  # the service refused the token or address; the result waits in the spool
    UNREAD = 9  # the upload is stored, but the service could not read it
    STOPPED = 10  # a rule of the plan ended it early; what had finished is uploaded
    UNFIT = 11  # doctor found something that would spoil a measurement
    INTERRUPTED = 130  # Ctrl-C or SIGTERM; what had finished is in the spool


MEANINGS = {
    Exit.OK: "done",
    Exit.FAILED: "unexpected failure",
    Exit.USAGE: "wrong command line, missing file or missing token",
    Exit.PLAN: "the plan is wrong; nothing ran",
    Exit.NO_TOOL: "no load tool that can do the plan was found; nothing ran",
    Exit.TRIALS_FAILED: "done and uploaded, but some trials carry an error",
    Exit.SPOOLED: "service not reached; the result waits in the spool",
    Exit.REJECTED: "service refused the upload for good; see rejected/ in the spool",
    Exit.HELD: "service refused the token or the address; the result waits in the spool",
    Exit.UNREAD: "stored, but the service could not read it",
    Exit.STOPPED: "a rule of the plan stopped it early; what had finished was kept or uploaded",
    Exit.UNFIT: "doctor found something that would spoil a measurement",
    Exit.INTERRUPTED: "interrupted; what had finished waits in the spool",
}
