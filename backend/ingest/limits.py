"""The limits of one request. `GET /api/v1/limits` and docs/operations.md show this table."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

from backend.ingest.archives import KEPT_TAR_BYTES, MAX_FAR_FILES, MAX_FILES
from backend.ingest.decompress import MAX_MEMBERS, MAX_RATIO
from backend.ingest.plain_json import (
    JSON_BRACKETS,
    JSON_COMMAS,
    JSON_INTEGER_BITS,
    JSON_LEVELS,
    JSON_OBJECT_MEMBERS,
)
from backend.runs.names import (
    MAX_CORRECTIONS,
    MAX_LABELS,
    MAX_NAME,
    MAX_NOTES,
    MAX_TRIALS,
    TOKEN_HOSTS,
)

# The first lines of a request: its address and its header fields.
HEADER_BYTES = 64 << 10
HEADER_FIELD_BYTES = 1_000
# A request without a valid token or session.
ANONYMOUS_BYTES = 64 << 10
# A form without files, and what stands beside the files of an upload.
FORM_BYTES = 16 << 20
# What Django takes.
FORM_FIELDS = 1_000
ENVELOPE_BYTES = 4 << 20
# 400 samples of a host of 1,000 cores, which an agent sends at once.
OBSERVATION_BYTES = 4 << 20
# Of other bodies. Checks of a body that was decoded are not in pieces; the worst JSON of this size
# keeps the other threads of a process waiting for 50 ms at most.
JSON_BYTES = 1 << 20
ENVELOPE_TRIALS = 5_000
LABELS = MAX_LABELS
# Members of one map: facts, a configuration, headers.
MAP_MEMBERS = 1_000
NAME_LENGTH = MAX_NAME
TEXT_LENGTH = 2_000
NOTES_LENGTH = MAX_NOTES
PLAN_LENGTH = 200_000
TAIL_LENGTH = 20_000
EVENTS = 2_000
COMMAND_WORDS = 1_000
COMMAND_WORD_LENGTH = 20_000
TRIAL_ARTEFACTS = 1_000
FILES = 12_000
MAX_PART_BYTES = 8 << 20
# Of all but the last part of an artefact; a waiting part counts as this much at least.
LEAST_PART_BYTES = 256 << 10
MAX_PARTS = 10_000
# Cleaned in the request itself; larger files wait for a turn of the child that cleans.
INLINE_FILE_BYTES = 64 << 10
INLINE_REQUEST_BYTES = 1 << 20
# Of the child that searches for secrets; less where the parser may use less.
SEARCH_MEMORY_BYTES = 1 << 30
# Plain files up to this size are searched in half a second at most, so they do not wait behind
# archives and larger files.
SHORT_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit, what it bounds, and the status of the answer to more."""

    name: str
    value: int
    unit: str
    bounds: str
    status: int


# The same in every installation.
_FIXED = (
    Limit("unpacked_ratio", MAX_RATIO, "times", "its size, above 64 MiB", 413),
    Limit("compressed_members", MAX_MEMBERS, "members", "of a gzip or frames of a zstd file", 413),
    Limit("archive_files", MAX_FILES, "files", "in one zip or tar archive", 413),
    Limit(
        "far_files",
        MAX_FAR_FILES,
        "files",
        f"in one tar archive behind its first {KEPT_TAR_BYTES >> 20} MiB",
        413,
    ),
    Limit("files", FILES, "files", "in one upload", 400),
    Limit("part_bytes", MAX_PART_BYTES, "bytes", "a part of a large artefact", 413),
    Limit("least_part_bytes", LEAST_PART_BYTES, "bytes", "at least, each part but the last", 400),
    Limit("parts", MAX_PARTS, "parts", "of one artefact", 400),
    Limit("form_bytes", FORM_BYTES, "bytes", "the fields beside the files of an upload", 413),
    Limit("form_fields", FORM_FIELDS, "fields", "beside the files of an upload", 400),
    Limit("header_bytes", HEADER_BYTES, "bytes", "the address and the header of a request", 431),
    Limit("header_field_bytes", HEADER_FIELD_BYTES, "bytes", "Accept and Content-Type", 400),
    Limit("anonymous_bytes", ANONYMOUS_BYTES, "bytes", "a body without token or session", 413),
    Limit("json_bytes", JSON_BYTES, "bytes", "a JSON body, but for observations", 413),
    Limit("observation_bytes", OBSERVATION_BYTES, "bytes", "an observation", 413),
    Limit("json_levels", JSON_LEVELS, "levels", "of objects and lists in JSON", 400),
    Limit("json_brackets", JSON_BRACKETS, "brackets", "that open a list or object in JSON", 400),
    Limit("json_commas", JSON_COMMAS, "commas", "in JSON, between members and in texts", 400),
    Limit("json_object_members", JSON_OBJECT_MEMBERS, "members", "of one object in JSON", 400),
    Limit("json_integer_bits", JSON_INTEGER_BITS, "bits", "a whole number in JSON", 400),
    Limit("envelope_bytes", ENVELOPE_BYTES, "bytes", "an envelope", 413),
    Limit("envelope_trials", ENVELOPE_TRIALS, "trials", "in one envelope", 400),
    Limit(
        "run_trials",
        MAX_TRIALS,
        "trials",
        "of one run, counted when an upload is read: beyond them it fails with this reason",
        202,
    ),
    Limit(
        "run_corrections",
        MAX_CORRECTIONS,
        "corrections",
        "of one run, undone ones included",
        400,
    ),
    Limit("labels", LABELS, "labels", "of one run", 400),
    Limit("map_members", MAP_MEMBERS, "members", "facts, headers, a configuration", 400),
    Limit("name_length", NAME_LENGTH, "characters", "a name, and the key of a map", 400),
    Limit("text_length", TEXT_LENGTH, "characters", "a label, an event, an error, a path", 400),
    Limit("notes_length", NOTES_LENGTH, "characters", "the notes of a run", 400),
    Limit("plan_length", PLAN_LENGTH, "characters", "a plan", 400),
    Limit(
        "tail_length",
        TAIL_LENGTH,
        "characters",
        "the last lines of a server, a value in a map, a word of a command",
        400,
    ),
    Limit("events", EVENTS, "events", "of one run", 400),
    Limit("command_words", COMMAND_WORDS, "words", "in the command of a trial", 400),
    Limit("trial_artefacts", TRIAL_ARTEFACTS, "files", "of one trial", 400),
    Limit("token_hosts", TOKEN_HOSTS, "hosts", "that use one token, heard within a day", 429),
)


def limits() -> tuple[Limit, ...]:
    """The limits of this installation."""
    waiting = "parts that wait in one workspace for the rest of their uploads"
    parts = Limit("waiting_part_bytes", settings.PARTS_MAX_BYTES, "bytes", waiting, 429)
    return (*_of_settings(), parts, *_of_searches(), *_FIXED)


def search_memory_bytes() -> int:
    """The memory that the search of one file for secrets may use."""
    return min(SEARCH_MEMORY_BYTES, settings.PARSE_MEMORY_BYTES)


def _of_searches() -> tuple[Limit, ...]:
    what = "to unpack one file and search it for secrets"
    memory_mib = search_memory_bytes() >> 20
    return (
        Limit("search_cpu_s", settings.PARSE_CPU_S, "s", f"of CPU time {what}", 413),
        Limit("search_memory_mib", memory_mib, "MiB", f"of memory {what}", 413),
    )


def _of_settings() -> tuple[Limit, ...]:
    return (
        Limit(
            "upload_bytes",
            settings.UPLOAD_MAX_BYTES,
            "bytes",
            "the files of one upload, as sent",
            413,
        ),
        Limit(
            "workspace_bytes",
            settings.WORKSPACE_MAX_BYTES,
            "bytes",
            "what one workspace stores: raw files, envelopes, observations, snapshots",
            507,
        ),
        Limit(
            "workspace_uploads_per_day",
            settings.UPLOADS_PER_DAY,
            "uploads",
            "of one workspace in a day (UTC)",
            429,
        ),
        Limit(
            "workspace_members",
            settings.WORKSPACE_MAX_MEMBERS,
            "members",
            "of one workspace, with its open invitations",
            400,
        ),
        Limit(
            "unpacked_bytes",
            settings.DECOMPRESSED_MAX_BYTES,
            "bytes",
            "a compressed file or archive when it is unpacked",
            413,
        ),
    )


def as_markdown() -> str:
    """The table of docs/operations.md."""
    rows = [
        f"| `{row.name}` | {row.value:,} {row.unit} | {row.bounds} | {row.status} |"
        for row in limits()
    ]
    return "\n".join(["| limit | value | of | beyond it |", "|---|---|---|---|", *rows])
