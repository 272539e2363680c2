"""Which names a server, host or workload can have, how many, and how long texts may be."""

MAX_NAME = 200
MAX_LABELS = 100
# As JSON, of all labels of a run: tables repeat them for each trial.
MAX_LABELS_BYTES = 20_000
MAX_NOTES = 10_000
# Of one run: its page takes memory and time for each. The 1,000 files of an archive of TechEmpower
# have about 8,000.
MAX_TRIALS = 10_000
# Of one run: its servers, and as many workloads; the bytes of all configurations as JSON, and as
# many of all headers. Whatever computes a run again holds them all in memory.
MAX_CONFIGURATIONS, MAX_CONFIGURATION_BYTES = 5_000, 8 << 20
# Of one run: its page and its JSON list them all, each with the trials and texts that it changed.
MAX_CORRECTIONS = 100
MAX_DISMISSALS = 500
# How many hosts the agents of one token may name.
TOKEN_HOSTS = 100


def is_unknown(value: object) -> bool:
    """Whether an identity field is unknown: missing, empty, or the text "unknown"."""
    return value is None or (isinstance(value, str) and value.strip().lower() in ("", "unknown"))


def clean_name(text: str) -> str | None:
    """The name with single spaces; None for a text that cannot be a name."""
    name = " ".join(text.split())
    is_name = len(name) <= MAX_NAME and "\0" not in name and not is_unknown(name)
    return name if is_name else None
