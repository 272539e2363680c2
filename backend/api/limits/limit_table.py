"""The table of limits, which `GET /api/v1/limits` and docs/operations.md show.

Each value stands where it is kept; a row says what it bounds, and the status of the answer to more.
"""

from dataclasses import dataclass

from django.conf import settings

from backend.accounts.limits.limiters import LIMITERS, MAILS
from backend.accounts.tokens.token_making import MOST_USABLE
from backend.accounts.workspace.invitations import MOST_OPEN
from backend.accounts.workspace.workspaces import MOST_OWNED
from backend.alerts.rules import MAX_RULES
from backend.api.uploads.observations import MAX_SAMPLES
from backend.deliveries.channels import MAX_CHANNELS
from backend.feeds.tokens import MAX_TOKENS
from backend.formats.logs import LONGEST_LINE_BYTES
from backend.formats.text import REPORT_BYTES
from backend.runs.amending import merging
from backend.runs.tables.names import (
    MAX_CONFIGURATION_BYTES,
    MAX_CONFIGURATIONS,
    MAX_CORRECTIONS,
    MAX_DISMISSALS,
    MAX_TRIALS,
    TOKEN_HOSTS,
)
from backend.sharing.saved_views import MAX_VIEWS
from backend.untrusted import limits as sent
from backend.untrusted.archives.decompress import MAX_FILES, MAX_MEMBERS, MAX_RATIO
from backend.untrusted.archives.tar_members import KEPT_TAR_BYTES, MAX_FAR_FILES
from backend.untrusted.json.plain_json import (
    JSON_BRACKETS,
    JSON_COMMAS,
    JSON_INTEGER_BITS,
    JSON_LEVELS,
    JSON_OBJECT_MEMBERS,
)


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
    Limit("files", sent.FILES, "files", "in one upload", 400),
    Limit("part_bytes", sent.MAX_PART_BYTES, "bytes", "a part of a large artefact", 413),
    Limit(
        "least_part_bytes", sent.LEAST_PART_BYTES, "bytes", "at least, each part but the last", 400
    ),
    Limit("parts", sent.MAX_PARTS, "parts", "of one artefact", 400),
    Limit(
        "page_form_bytes",
        sent.PAGE_FORM_BYTES,
        "bytes",
        "a form of a page without files, or one that is percent-encoded",
        413,
    ),
    Limit("form_bytes", sent.FORM_BYTES, "bytes", "the fields beside the files of an upload", 413),
    Limit("form_fields", sent.FORM_FIELDS, "fields", "beside the files of an upload", 400),
    Limit("address_bytes", sent.HEADER_LINE_BYTES, "bytes", "the first line of a request", 414),
    Limit("header_bytes", sent.HEADER_LINE_BYTES, "bytes", "a field of the header", 431),
    Limit("header_fields", sent.HEADER_FIELDS, "fields", "of the header of a request", 431),
    Limit("header_field_bytes", sent.HEADER_FIELD_BYTES, "bytes", "Accept and Content-Type", 400),
    Limit("anonymous_bytes", sent.ANONYMOUS_BYTES, "bytes", "a body without token or session", 413),
    Limit("json_bytes", sent.JSON_BYTES, "bytes", "a JSON body, but for observations", 413),
    Limit("observation_bytes", sent.OBSERVATION_BYTES, "bytes", "an observation", 413),
    Limit("json_levels", JSON_LEVELS, "levels", "of objects and lists in JSON", 400),
    Limit("json_brackets", JSON_BRACKETS, "brackets", "that open a list or object in JSON", 400),
    Limit("json_commas", JSON_COMMAS, "commas", "in JSON, between members and in texts", 400),
    Limit("json_object_members", JSON_OBJECT_MEMBERS, "members", "of one object in JSON", 400),
    Limit("json_integer_bits", JSON_INTEGER_BITS, "bits", "a whole number in JSON", 400),
    Limit("envelope_bytes", sent.ENVELOPE_BYTES, "bytes", "an envelope", 413),
    Limit("envelope_trials", sent.ENVELOPE_TRIALS, "trials", "in one envelope", 400),
    Limit(
        "run_trials",
        MAX_TRIALS,
        "trials",
        "of one run, counted when an upload is read: beyond them it fails with this reason",
        202,
    ),
    Limit(
        "run_configurations",
        MAX_CONFIGURATIONS,
        "servers",
        "of one run, and as many workloads; an upload that brings more fails when it is read",
        202,
    ),
    Limit(
        "run_configuration_bytes",
        MAX_CONFIGURATION_BYTES,
        "bytes",
        "of all configurations of one run as JSON, and as many of all headers; an upload that "
        "brings more fails when it is read",
        202,
    ),
    Limit(
        "run_corrections",
        MAX_CORRECTIONS,
        "corrections",
        "of one run, undone ones included",
        400,
    ),
    Limit("run_dismissals", MAX_DISMISSALS, "dismissals", "of one run, undone ones included", 400),
    Limit("labels", sent.LABELS, "labels", "of one run", 400),
    Limit("labels_bytes", sent.LABELS_BYTES, "bytes", "all labels of one run, as JSON", 400),
    Limit("map_members", sent.MAP_MEMBERS, "members", "facts, headers, a configuration", 400),
    Limit("map_levels", sent.MAP_LEVELS, "levels", "of objects and lists in such a map", 400),
    Limit("map_values", sent.MAP_VALUES, "values", "members and items of all levels of a map", 400),
    Limit(
        "identity_map_bytes",
        sent.IDENTITY_MAP_BYTES,
        "bytes",
        "the configuration of a server or the headers of a workload, as JSON",
        400,
    ),
    Limit(
        "name_length",
        sent.NAME_LENGTH,
        "characters",
        "a name, and a key of any level of a map",
        400,
    ),
    Limit(
        "text_length", sent.TEXT_LENGTH, "characters", "a label, an event, an error, a path", 400
    ),
    Limit("notes_length", sent.NOTES_LENGTH, "characters", "the notes of a run", 400),
    Limit("plan_length", sent.PLAN_LENGTH, "characters", "a plan", 400),
    Limit(
        "tail_length",
        sent.TAIL_LENGTH,
        "characters",
        "the last lines of a server, a value of any level of a map",
        400,
    ),
    Limit("events", sent.EVENTS, "events", "of one run", 400),
    Limit("command_words", sent.COMMAND_WORDS, "words", "in the command of a trial", 400),
    Limit(
        "command_length",
        sent.COMMAND_LENGTH,
        "characters",
        "all words of the command of a trial",
        400,
    ),
    Limit(
        "trial_map_bytes",
        sent.TRIAL_MAP_BYTES,
        "bytes",
        "the resources of a trial, or its preview figures (glance), as JSON",
        400,
    ),
    Limit("facts_bytes", sent.FACTS_BYTES, "bytes", "the facts of a host, as JSON", 400),
    Limit("trial_artefacts", sent.TRIAL_ARTEFACTS, "files", "of one trial", 400),
    Limit(
        "trial_artefacts_together",
        sent.TRIAL_ARTEFACTS_TOGETHER,
        "files",
        "of all trials of an envelope, each counted for each trial",
        400,
    ),
    Limit("token_hosts", TOKEN_HOSTS, "hosts", "that use one token, heard within a day", 429),
    Limit("observation_samples", MAX_SAMPLES, "samples", "of one observation", 400),
    Limit(
        "report_bytes",
        REPORT_BYTES,
        "bytes",
        "a report in JSON, counted when an upload is read: a longer one fails with this reason",
        202,
    ),
    Limit(
        "line_bytes",
        LONGEST_LINE_BYTES,
        "bytes",
        "a line of a log, counted when an upload is read: a longer one fails with this reason",
        202,
    ),
)

# What members change, make and keep.
_MADE = (
    Limit("merge_runs", merging.MAX_RUNS, "runs", "of a server, host or workload to merge", 400),
    Limit(
        "merge_trials", merging.MAX_TRIALS, "trials", "of a server, host or workload to merge", 400
    ),
    Limit("merge_rows", merging.MAX_ROWS, "configurations", "of a name to merge", 400),
    Limit(
        "merge_row_bytes",
        merging.MAX_ROW_BYTES,
        "bytes",
        "all configurations of a name to merge, as JSON",
        400,
    ),
    Limit(
        "merge_related_bytes",
        merging.MAX_RELATED_BYTES,
        "bytes",
        "all configurations and headers measured with a name to merge, as JSON",
        400,
    ),
    Limit("workspace_tokens", MOST_USABLE, "tokens", "of one workspace, in use", 409),
    Limit("workspace_invitations", MOST_OPEN, "invitations", "to one workspace, open", 409),
    Limit("workspace_channels", MAX_CHANNELS, "channels", "of one workspace", 409),
    Limit("workspace_rules", MAX_RULES, "rules", "for alerts of one workspace", 409),
    Limit("workspace_views", MAX_VIEWS, "views", "saved in one workspace", 409),
    Limit("feed_tokens", MAX_TOKENS, "tokens", "for feeds, of one member in a workspace", 409),
    Limit("owned_workspaces", MOST_OWNED, "workspaces", "that one account owns", 400),
)


def limits() -> tuple[Limit, ...]:
    """The limits of this installation."""
    waiting = "parts that wait in one workspace for the rest of their uploads"
    parts = Limit("waiting_part_bytes", settings.PARTS_MAX_BYTES, "bytes", waiting, 429)
    return (*_of_settings(), parts, *_of_searches(), *_FIXED, *_MADE, *_by_time())


def _by_time() -> tuple[Limit, ...]:
    """How often, from the table of limiters."""
    return tuple(
        Limit(
            limiter.id,
            limiter.most(),
            limiter.unit,
            f"within {_WINDOWS[limiter.per]}, of {limiter.payer}",
            429,
        )
        for limiter in LIMITERS
        if limiter is not MAILS
    )


_WINDOWS = {"minute": "a minute", "hour": "an hour", "day": "a day"}


def _of_searches() -> tuple[Limit, ...]:
    what = "to unpack one file and search it for secrets"
    memory_mib = sent.search_memory_bytes() >> 20
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
            "what one workspace stores: raw files, envelopes, observations, corrections, merges "
            "and result sets",
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
    """The table of docs/operations.md: of sizes, counts and lengths."""
    by_time = {limiter.id for limiter in LIMITERS}
    rows = [
        f"| `{row.name}` | {row.value:,} {row.unit} | {row.bounds} | {row.status} |"
        for row in limits()
        if row.name not in by_time
    ]
    return "\n".join(["| limit | value | of | beyond it |", "|---|---|---|---|", *rows])
