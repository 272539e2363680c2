"""What zip and tar archives are refused for alike."""

from backend.untrusted.packed.decompress import BeyondLimit, DecompressionRefused

# A results tree of hundreds of files is read as well as the files of one trial.
MAX_FILES = 1_000


def check_count(count: int, kind: str) -> None:
    """Raises BeyondLimit where the archive has too many files."""
    if count > MAX_FILES:
        raise BeyondLimit(
            f"The {kind} archive has more than {MAX_FILES} files. Upload the files of one trial, "
            "or one folder of results. A larger results tree of TechEmpower or HttpArena is "
            "uploaded by `loadsheet import`."
        )


def broken_archive(kind: str, why: object) -> DecompressionRefused:
    """The refusal of an archive that cannot be read."""
    return DecompressionRefused(f"The {kind} archive is broken: {why}.")
