#!/usr/bin/env python
"""Django's command line for Loadsheet."""

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent
# These contact no service, so they need no real settings.
OFFLINE = ("parse",)
# A person types there, into what reads the terminal itself.
INTERACTIVE = (["shell"], ["dbshell"], ["runserver"])
# These are for a site that is stopped too: `doctor` says so, the others make another one.
WITHOUT_SITE = ("doctor", "pull_backups", "restore")
NOWHERE = {
    "SECRET_KEY": "unused: these commands contact no service 0123456789",
    "TOKEN_PEPPER": "unused: these commands contact no service 0123456789",
    "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
    "REDIS_URL": "redis://127.0.0.1:1/0",
}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backend.config.settings")
    from backend.config.environment.secret_files import is_given

    if not is_given("DATABASE_URL"):
        fill_environment(sys.argv[1:2])
    from django.core.management import BaseCommand, execute_from_command_line

    from backend.visible_text import VisibleStream

    if sys.argv[1:2] not in INTERACTIVE:
        # Without Django's own colours, each escape in the output is of a stranger's text.
        os.environ["DJANGO_COLORS"] = "nocolor"
        sys.stdout, sys.stderr = VisibleStream(sys.stdout), VisibleStream(sys.stderr)

    # Checks import every page, which takes longer than most commands; scripts/check has them run.
    BaseCommand.requires_system_checks = []
    if sys.argv[1:2] == ["restore"] and "--replace" in sys.argv and is_stopped():
        with database_of_stopped_site():
            execute_from_command_line(sys.argv)
    else:
        execute_from_command_line(sys.argv)


def is_stopped() -> bool:
    """Whether this is about a site of scripts/start that does not run."""
    is_nowhere = os.environ.get("DATABASE_URL") == NOWHERE["DATABASE_URL"]
    return is_nowhere and (Path(os.environ["DATA_DIR"]) / "secrets.json").exists()


@contextmanager
def database_of_stopped_site() -> Iterator[None]:
    """Its PostgreSQL alone, until the block ends. No scripts/start begins meanwhile."""
    from backend.config.recovery.embedded import EmbeddedFailed, Postgres
    from backend.config.site.site_folder import SiteFolder, StartFailed

    folder, backups = (
        SiteFolder(Path(os.environ["DATA_DIR"]).resolve()),
        os.environ.get("BACKUP_DIR"),
    )
    postgres = Postgres(folder.path, backups=Path(backups) if backups else None)
    try:
        folder.prepare()
        postgres.start(folder.log_of("postgres"))
    except (EmbeddedFailed, StartFailed) as failed:
        sys.exit(f"CommandError: the database of {folder.path} was not started: {failed}")
    os.environ.update(folder.secrets(), DATABASE_URL=postgres.url)
    try:
        yield
    finally:
        postgres.stop()


def fill_environment(command: list[str]) -> None:
    """For people at a terminal: parse files anywhere, or work beside a running scripts/start."""
    data = Path(os.environ.setdefault("DATA_DIR", str(ROOT / ".data"))).resolve()
    values = NOWHERE if command and command[0] in OFFLINE else beside_start(data)
    if not values and command and command[0] in WITHOUT_SITE:
        values = NOWHERE
    from backend.config.environment.secret_files import is_given

    for name, value in values.items():
        if not is_given(name):
            os.environ[name] = value


def beside_start(data: Path) -> dict[str, str]:
    """The secrets and the database scripts/start uses; the sweeper stands in for the broker."""
    # Where PostgreSQL's user cannot reach the data folder, the database is kept beside others.
    elsewhere = Path("/var/lib/loadsheet") / hashlib.sha256(str(data).encode()).hexdigest()[:12]
    for place in (data, elsewhere):
        try:
            secrets = json.loads((data / "secrets.json").read_text())
            sockets = (place / "postgres" / "postmaster.pid").read_text().splitlines()[4]
        except (OSError, IndexError):
            continue
        url = f"postgresql://loadsheet@/loadsheet?host={sockets}"
        return {**secrets, "DATABASE_URL": url, "REDIS_URL": NOWHERE["REDIS_URL"]}
    return {}


if __name__ == "__main__":
    main()
