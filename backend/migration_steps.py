"""Steps of migrations over tables that may be large (decision 0054).

A transaction holds each lock until its end: a reader then waits until a column was added and
filled. So these migrations are not atomic. Each step holds its lock for a moment, and may be done
again, so that a migration that was stopped can be run again: a column or an index that is there is
left alone, and rows are filled again.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.schema import BaseDatabaseSchemaEditor as Editor
from django.db.models import Index, Model

# Rows of one statement: nobody waits long for their locks.
BATCH = 2000


class AddFieldOnce(migrations.AddField):
    """Adds a column where the table does not have it yet. It must be nullable or have a default of
    the database that needs no rewrite."""

    def database_forwards(
        self, app_label: str, schema_editor: Editor, from_state: Any, to_state: Any
    ) -> None:
        model = to_state.apps.get_model(app_label, self.model_name)
        column = model._meta.get_field(self.name).column
        if column not in _columns(schema_editor.connection, model):
            super().database_forwards(app_label, schema_editor, from_state, to_state)


class AddIndexOnce(AddIndexConcurrently):
    """Builds an index while rows are written; again where a build before was stopped.

    PostgreSQL builds none of a partitioned table so: there, writers wait.
    """

    def database_forwards(
        self, app_label: str, schema_editor: Editor, from_state: Any, to_state: Any
    ) -> None:
        _build(schema_editor, to_state.apps.get_model(app_label, self.model_name), self.index)

    def database_backwards(
        self, app_label: str, schema_editor: Editor, from_state: Any, to_state: Any
    ) -> None:
        _drop(schema_editor, from_state.apps.get_model(app_label, self.model_name), self.index.name)


class RemoveIndexOnce(RemoveIndexConcurrently):
    """Drops an index while rows are written; the way back builds it as AddIndexOnce does."""

    def database_forwards(
        self, app_label: str, schema_editor: Editor, from_state: Any, to_state: Any
    ) -> None:
        _drop(schema_editor, from_state.apps.get_model(app_label, self.model_name), self.name)

    def database_backwards(
        self, app_label: str, schema_editor: Editor, from_state: Any, to_state: Any
    ) -> None:
        index = to_state.models[app_label, self.model_name_lower].get_index_by_name(self.name)
        _build(schema_editor, to_state.apps.get_model(app_label, self.model_name), index)


def drop_indexes(
    editor: Editor, model: type[Model], *, columns: Collection[str], but: Collection[str]
) -> None:
    """Drop the indexes of exactly these columns, while rows are written, save the ones named in
    `but`. Indexes that hold a promise, such as a primary key, stay."""
    connection = editor.connection
    with connection.cursor() as cursor:
        constraints = connection.introspection.get_constraints(cursor, model._meta.db_table)
    for name, what in constraints.items():
        is_plain = what["index"] and not (what["unique"] or what["primary_key"])
        if is_plain and what["columns"] == list(columns) and name not in but:
            _drop(editor, model, name)


def batches_of_keys(model: type[Model], rows: int = BATCH) -> Iterator[list[Any]]:
    """The primary keys of a table in order, so many at a time. Rows that come meanwhile may be left
    out: they were written by what runs now."""
    keys = model._base_manager.order_by("pk").values_list("pk", flat=True)
    batch = list(keys[:rows])
    while batch:
        yield batch
        batch = list(keys.filter(pk__gt=batch[-1])[:rows])


def _build(editor: Editor, model: type[Model], index: Index) -> None:
    """Build an index that is not there, or that a build before left unfinished."""
    connection = editor.connection
    is_valid = _is_valid_index(connection, index.name)
    if is_valid:
        return
    if _is_partitioned(connection, model):
        editor.add_index(model, index)
        return
    if is_valid is False:
        _drop(editor, model, index.name)
    with _waiting_without_end(connection):
        editor.execute(index.create_sql(model, editor, concurrently=True), params=None)


def _drop(editor: Editor, model: type[Model], name: str) -> None:
    connection = editor.connection
    # A partitioned table's index can only be dropped at once, which takes a moment.
    how = "" if _is_partitioned(connection, model) else "CONCURRENTLY"
    with _waiting_without_end(connection):
        editor.execute(f"DROP INDEX {how} IF EXISTS {connection.ops.quote_name(name)}")


def _columns(connection: BaseDatabaseWrapper, model: type[Model]) -> set[str]:
    with connection.cursor() as cursor:
        table = model._meta.db_table
        return {each.name for each in connection.introspection.get_table_description(cursor, table)}


def _is_partitioned(connection: BaseDatabaseWrapper, model: type[Model]) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relkind = 'p' FROM pg_class WHERE oid = to_regclass(%s)",
            [connection.ops.quote_name(model._meta.db_table)],
        )
        row = cursor.fetchone()
    return row is not None and bool(row[0])


def _is_valid_index(connection: BaseDatabaseWrapper, name: str) -> bool | None:
    """None if there is none."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)",
            [connection.ops.quote_name(name)],
        )
        row = cursor.fetchone()
    return None if row is None else bool(row[0])


def has_session(connection: BaseDatabaseWrapper) -> bool:
    """Whether settings stay: through a pooler, the next transaction may have another session."""
    return not connection.settings_dict["DISABLE_SERVER_SIDE_CURSORS"]


@contextmanager
def _waiting_without_end(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """A concurrent build waits for every older transaction, and holds up nobody meanwhile."""
    if not has_session(connection):
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        (before,) = cursor.fetchone()
        cursor.execute("SET lock_timeout = 0")
        try:
            yield
        finally:
            cursor.execute("SELECT set_config('lock_timeout', %s, false)", [before])
