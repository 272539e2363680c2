"""The archive of WAL: PostgreSQL's log of changes, from which any moment can be restored.

PostgreSQL fills it by its own module basic_archive, which flushes each file to disk before the
server forgets it.
"""

from pathlib import Path

# A change is in the archive after so many seconds at the latest.
ARCHIVE_TIMEOUT_S = 300


def wal_folder(backups: Path) -> Path:
    """Where the archived WAL lies in a folder of backups."""
    return backups.resolve() / "wal"


def archive_settings(folder: Path) -> dict[str, str]:
    """The settings of a PostgreSQL server that archives its WAL in `folder`."""
    return {
        "archive_mode": "on",
        "archive_library": "basic_archive",
        "basic_archive.archive_directory": str(folder),
        "archive_timeout": str(ARCHIVE_TIMEOUT_S),
    }


def restore_settings(folder: Path, to: str) -> dict[str, str]:
    """The settings of a server that replays the WAL in `folder`, up to the time `to`; empty: all.

    It ends the recovery there and takes changes again. The path holds no quotes.
    """
    settings = {"restore_command": f'cp "{folder}/%f" "%p"', "recovery_target_action": "promote"}
    return {**settings, "recovery_target_time": to} if to else settings
