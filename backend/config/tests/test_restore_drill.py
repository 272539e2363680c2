"""A good backup passes the drill; an empty, truncated, foreign, old or incomplete one fails it."""

import io
from secrets import token_hex

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from backend.config.recovery import restore_drill
from backend.config.recovery.database_programs import connect, restore_dump, run_program
from backend.ingest.models import Artefact
from backend.storage import storage
from backend.testing.pooler import needs_session
from backend.testing.scenes import make_scene

pytestmark = [
    pytest.mark.django_db(transaction=True),
    needs_session,
    pytest.mark.usefixtures("own_storage", "small_files_as_files"),
]


@pytest.fixture
def scene():
    return make_scene()


@pytest.fixture
def dump(scene, tmp_path):
    path = tmp_path / "loadsheet.dump"
    restore_drill.dump_database(path)
    return path


def drill(*arguments):
    out = io.StringIO()
    call_command("restore_drill", "--hash-percent=100", *arguments, stdout=out)
    return out.getvalue()


def assert_none_is_left(drilled):
    assert drilled
    with connection.cursor() as cursor:
        cursor.execute("SELECT datname FROM pg_database")
        left = [name for (name,) in cursor.fetchall() if name.endswith(tuple(drilled))]
    assert left == []


@pytest.fixture
def drilled(monkeypatch):
    """The names of the databases that this test made; others may run drills beside it."""
    names = []

    def record(length):
        names.append(token_hex(length))
        return names[-1]

    monkeypatch.setattr(restore_drill.secrets, "token_hex", record)
    return names


def test_a_fresh_backup_equals_the_live_database(scene, drilled):
    text = drill()

    count = Artefact.objects.values("sha256").distinct().count()
    assert count > 0
    assert f"{count} artefacts and hashed {count}" in text
    assert text.endswith("The backup is good.\n")
    assert_none_is_left(drilled)


def test_a_kept_backup_is_good_after_the_live_database_went_on(dump):
    Artefact.objects.update(name="another name")

    assert "The backup is good." in drill("--dump", str(dump))


def test_an_extension_of_an_administrator_stays(dump, monkeypatch):
    with restore_drill._second_database() as name:
        with connect(name, autocommit=True) as administrator:
            administrator.execute("CREATE EXTENSION pg_trgm")
            administrator.execute("CREATE ROLE restorer LOGIN")
            administrator.execute("ALTER SCHEMA public OWNER TO restorer")
        with monkeypatch.context() as as_restorer:
            as_restorer.setitem(connection.settings_dict, "USER", "restorer")
            restore_dump(dump, name, "--exit-on-error")
            restore_dump(dump, name, "--clean", "--if-exists", "--single-transaction")
        with connect(name) as restored:
            assert restore_drill.sum_tables(restored) == sum_live()
    with connect(connection.settings_dict["NAME"], autocommit=True) as administrator:
        administrator.execute("DROP ROLE restorer")


def sum_live():
    with connect(connection.settings_dict["NAME"]) as live:
        return restore_drill.sum_tables(live)


def test_a_table_that_differs_is_named(scene):
    before = sum_live()
    Artefact.objects.update(name="another name")
    after = sum_live()
    report = restore_drill.Report()
    restore_drill._check_tables(report, after, before)
    assert report.problems == ["table ingest_artefact differs from the live database"]


def test_a_truncated_backup_fails(dump, drilled):
    whole = dump.read_bytes()
    dump.write_bytes(whole[: len(whole) * 2 // 3])

    with pytest.raises(CommandError, match="does not restore: pg_restore failed"):
        drill("--dump", str(dump))
    assert_none_is_left(drilled)


def test_an_empty_file_fails(tmp_path):
    (tmp_path / "empty").touch()

    with pytest.raises(CommandError, match="does not restore"):
        drill("--dump", str(tmp_path / "empty"))


def test_a_backup_of_an_empty_database_fails(tmp_path):
    path = tmp_path / "nothing.dump"
    with restore_drill._second_database() as name:
        run_program("pg_dump", "--format=custom", f"--file={path}", name)

    report = restore_drill.drill(path)

    assert report.problems[0] == "the backup is empty: it has no rows"
    assert "not of Loadsheet" in report.problems[1]


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("DELETE FROM django_migrations WHERE app = 'ingest'", "older version: it lacks ingest.0"),
        (
            "INSERT INTO django_migrations (app, name, applied) VALUES ('runs', '9999_x', now())",
            "newer version: it has runs.9999_x",
        ),
    ],
)
def test_a_backup_of_another_version_fails(dump, tmp_path, statement, words):
    path = tmp_path / "other.dump"
    with restore_drill._second_database() as name:
        run_program("pg_restore", f"--dbname={name}", str(dump))
        with connect(name, autocommit=True) as other:
            other.execute(statement)
        run_program("pg_dump", "--format=custom", f"--file={path}", name)

    assert any(words in problem for problem in restore_drill.drill(path).problems)


def test_bytes_that_are_missing_or_changed_fail(scene):
    sha256 = Artefact.objects.first().sha256
    place = storage()._place(sha256)
    kept = place.read_bytes()
    place.write_bytes(kept[:-1])
    with pytest.raises(CommandError, match=r"not good[.] Problems: 1[.]"):
        drill()

    place.unlink()
    assert restore_drill.drill(hash_percent=0).problems == [
        f"artefact {sha256}: its bytes are missing"
    ]
