"""The limits of what is sent. `backend/api/limits/limit_table.py` makes the table of them."""

from django.conf import settings

from backend.runs.tables.names import MAX_LABELS, MAX_LABELS_BYTES, MAX_NAME, MAX_NOTES

# The first line of a request, and each field of its header.
HEADER_LINE_BYTES = 32 << 10
HEADER_FIELDS = 100
# Python takes Accept and Content-Type apart in a time that grows with the square of their length.
HEADER_FIELD_BYTES = 1_000
# A request without a valid token or session.
ANONYMOUS_BYTES = 64 << 10
# What stands beside the files of an upload: the envelope and the frame of the form.
ENVELOPE_ROOM_BYTES = 1 << 20
# Larger bodies of one token or user that a web process receives at the same time.
LARGE_BODIES = 16
# Of all tokens of a workspace.
LARGE_BODIES_TOGETHER = 4 * LARGE_BODIES
# Slow work of all kinds may hold 22: twelve for files (backend/untrusted/sandbox/slots.py), ten for
# large answers (backend/analysis/loading/viewer_slots.py). A fifth of the threads is for networks
# that have none (backend/config/serving/fair_threads.py).
REQUEST_THREADS = 24
# All of them share one interpreter, so this is how much slower than alone others are answered
# beside one network whose requests compute.
REQUEST_THREADS_OF_NETWORK = 5
# A body is given up if it is slower over a minute, or silent for so long.
LEAST_BYTES_PER_S, SLOW_AFTER_S = 1 << 10, 60
# A form of a page, and any that is percent-encoded. Python takes that apart into as many objects as
# it has bytes: 16 MB took 1.1 GB. A page that shows a field of 16 MB again took 1.5 GB.
URLENCODED = "application/x-www-form-urlencoded"
PAGE_FORM_BYTES = 256 << 10
# The fields beside the files of an upload: the envelope, and few more.
FORM_BYTES = 5 << 20
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
LABELS_BYTES = MAX_LABELS_BYTES
# Members of one map: facts, a configuration, headers.
MAP_MEMBERS = 1_000
# Of what is nested in one map: levels, and members and items of all levels. A key of any level is a
# name. Pages name a nested value by the keys that lead to it.
MAP_LEVELS = 8
MAP_VALUES = 10_000
# Of a map that tells servers or workloads apart. Corrections and merges copy it to each trial.
IDENTITY_MAP_BYTES = 20_000
NAME_LENGTH = MAX_NAME
TEXT_LENGTH = 2_000
NOTES_LENGTH = MAX_NOTES
PLAN_LENGTH = 200_000
TAIL_LENGTH = 20_000
EVENTS = 2_000
COMMAND_WORDS = 1_000
# Of all its words together: pages and the API show the commands of many trials.
COMMAND_LENGTH = 20_000
# Of the resources of a trial, and of its preview figures. With 1,000 cores, resources have 10,000.
TRIAL_MAP_BYTES = 64 << 10
# Of the facts of a host: an agent sends 5 KB.
FACTS_BYTES = 64 << 10
TRIAL_ARTEFACTS = 1_000
# A run's page and JSON list the files of each trial.
TRIAL_ARTEFACTS_TOGETHER = 20_000
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


def largest_request() -> int:
    """Bytes of the largest body of a request."""
    return settings.UPLOAD_MAX_BYTES + ENVELOPE_ROOM_BYTES


def search_memory_bytes() -> int:
    """The memory that the search of one file for secrets may use."""
    return min(SEARCH_MEMORY_BYTES, settings.PARSE_MEMORY_BYTES)
