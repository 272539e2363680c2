"""No answer reads documents that may hold megabytes of several rows at a time."""

import re
from contextlib import contextmanager

import pytest
from django.db import connection

from backend.testing.transactions import taken_back
from backend.web.tests.access_rows import ROWS
from backend.web.tests.every_answer import every_request
from backend.web.tests.test_access import ask, body_of, ids_of
from backend.web.tests.test_large_columns import MORE

pytestmark = pytest.mark.django_db
LARGE = {
    "runs_merge": ("rows",),
    "sharing_resultset": ("snapshot",),
    "runs_observation": ("host", "packed"),
    "ingest_upload": ("envelope",),
}
TABLES = "|".join(LARGE)
# A joined table is named T5 or so.
READ = re.compile(
    "|".join(
        rf'"?(?:{table}|T\d+)"?\."(?:{"|".join(columns)})"(?=,| AS | FROM )'
        for table, columns in LARGE.items()
    )
)
OF_ONE = re.compile(rf'"(?:{TABLES})"\."(?:id|link|run_id)" = %s|LIMIT (?:1|21)\b|FOR UPDATE')


@contextmanager
def documents_of_many():
    read = []

    def look(execute, sql, params, many, context):
        if sql.startswith("SELECT") and READ.search(sql) and not OF_ONE.search(sql):
            read.append(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(look):
        yield read


def test_no_answer_reads_large_documents_of_several_rows(owner, scene):
    ids = ids_of(scene)
    wrong = {}
    own = [(name, row) for name, row in every_request() if row.method in ("get", ROWS[name].method)]
    for name, row in [*own, *MORE.items()]:
        with taken_back(), documents_of_many() as read:
            body_of(ask(owner, row, ids))
        if read:
            wrong[name, row.method] = read[0]
    assert wrong == {}
