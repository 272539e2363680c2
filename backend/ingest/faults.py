"""Which database errors pass by themselves."""

from __future__ import annotations

from django.db import Error, InterfaceError, OperationalError

# What a database raises that is away. Other causes have the same classes: see is_database_away.
DatabaseGone = (OperationalError, InterfaceError)
# SQLSTATEs by their beginning: no connection, deadlock and serialisation, no resources (disk,
# memory, connections), shutting down or cancelled by a timeout, a lock not got in time, a fault of
# the disk, ended for being idle.
PASSING_SQLSTATES = ("08", "40", "53", "57P", "57014", "55P03", "58", "25P03")


# libpq's words for a statement that it cannot send over a good connection.
UNSENDABLE = "number of parameters must be"


def is_database_away(error: BaseException | None) -> bool:
    """Whether the database was away, or too busy to answer in time, so that a retry may help.

    psycopg gives OperationalError without an SQLSTATE both for a cut connection and for a
    statement that it cannot send. The state of the connection does not tell them apart: at the end
    of a transaction Django may have opened another one already.
    """
    if not isinstance(error, Error):
        return False
    sqlstate = getattr(error.__cause__, "sqlstate", None)
    if sqlstate is not None:
        return str(sqlstate).startswith(PASSING_SQLSTATES)
    return isinstance(error, DatabaseGone) and UNSENDABLE not in str(error)
