"""Transactions that the database refuses at their end, for the sake of others."""

from dataclasses import dataclass

import psycopg
import pytest
from django.db import Error, IntegrityError, OperationalError, connection

from backend.problems import CHANGED_MEANWHILE, DATABASE_BUSY, Answer


@dataclass(frozen=True, slots=True)
class Fault:
    """The class that Django gives it, and the answer to a request that met it."""

    kind: type[Error]
    answer: Answer


# By SQLSTATE.
FAULTS = {
    "23503": Fault(IntegrityError, CHANGED_MEANWHILE),
    "40001": Fault(OperationalError, DATABASE_BUSY),
    "40P01": Fault(OperationalError, DATABASE_BUSY),
}


class RefusedCommits:
    """Refuses the end of each outermost transaction of a request, while the patch holds.

    `count`: how many were refused. Inside the transaction of a test, that of a request is a
    savepoint.
    """

    def __init__(self, patch: pytest.MonkeyPatch, sqlstate: str) -> None:
        self.count = 0
        refused: set[str] = set()
        depth, end = len(connection.savepoint_ids), connection.savepoint_commit

        def refuse(sid: str) -> None:
            # Django ends a refused one again, after it was undone.
            if len(connection.savepoint_ids) > depth or sid in refused:
                end(sid)
                return
            refused.add(sid)
            self.count += 1
            error = FAULTS[sqlstate].kind("words of the database")
            raise error from psycopg.errors.lookup(sqlstate)("words")

        patch.setattr(connection, "savepoint_commit", refuse)
