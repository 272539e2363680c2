"""What a database error says: the database was away, or busy with others, or others came first."""

from django.db import DatabaseError, Error, InterfaceError, OperationalError

# What a database raises that is away. Other causes have the same classes: see is_database_away.
DatabaseGone = (OperationalError, InterfaceError)
# SQLSTATEs by their beginning. Nobody is served: no connection, no resources (connections, memory,
# disk), shutting down or starting, a fault of the disk, the session ended for being idle.
AWAY_SQLSTATES = ("08", "53", "57P", "58", "25P03")
# Others are served, one statement was not: deadlock and serialisation, cancelled by a timeout, a
# lock not got in time.
BUSY_SQLSTATES = ("40", "57014", "55P03")

# Others came first, and the same transaction may succeed when it begins again: deadlock and
# serialisation, and a row that appeared or went while this transaction referred to it. PostgreSQL
# looks for those at COMMIT.
OVERTAKEN_SQLSTATES = ("40", "23503")
# Others came first, and the same transaction would be refused again: they took the name.
TAKEN_SQLSTATE = "23505"
# Django's words for a row that it was to change, and that is gone.
GONE = "did not affect any rows"

# libpq's words for a statement that it cannot send over a good connection.
UNSENDABLE = "number of parameters must be"


def is_database_away(error: BaseException | None) -> bool:
    """Whether the connection was lost, or the database could not serve anybody.

    psycopg gives OperationalError without an SQLSTATE both for a cut connection and for a
    statement that it cannot send. The state of the connection does not tell them apart: at the end
    of a transaction Django may have opened another one already.
    """
    if sqlstate := _sqlstate_of(error):
        return sqlstate.startswith(AWAY_SQLSTATES)
    return isinstance(error, DatabaseGone) and UNSENDABLE not in str(error)


def is_database_busy(error: BaseException | None) -> bool:
    """Whether the database ended a statement because of others, or because it took too long."""
    return _sqlstate_of(error).startswith(BUSY_SQLSTATES)


def is_overtaken(error: BaseException | None) -> bool:
    """Whether others came first, and the transaction may succeed when it begins again."""
    return _sqlstate_of(error).startswith(OVERTAKEN_SQLSTATES)


def is_taken(error: BaseException | None) -> bool:
    """Whether another row has what must be unique, and nothing else was wrong."""
    return _sqlstate_of(error) == TAKEN_SQLSTATE


def is_changed_meanwhile(error: BaseException | None) -> bool:
    """Whether others deleted what the transaction refers to, or took the name that it gives."""
    if _sqlstate_of(error) == "23503" or is_taken(error):
        return True
    return isinstance(error, DatabaseError) and GONE in str(error)


def _sqlstate_of(error: BaseException | None) -> str:
    """Empty if there is none."""
    if not isinstance(error, Error):
        return ""
    return str(getattr(error.__cause__, "sqlstate", None) or "")
