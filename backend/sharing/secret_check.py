"""Refusing to share a text that holds a secret.

Uploads come without secrets (`ingest.redaction`). What people typed since then, such as notes, does
not: it is checked here, where others get to read it. What members wrote about runs is such text.
"""

from collections.abc import Iterator, Sequence
from uuid import UUID

from backend.accounts.credentials.token_format import holds_token
from backend.errors import InvalidInput
from backend.runs.amending.dismissals import dismissals_of
from backend.runs.models import Run
from backend.runs.recording.corrections import FREE_TEXTS, standing_corrections_of_runs
from backend.sharing.models import ResultSet
from backend.untrusted.secrets.redaction import MARK, Redactor

# So much in front of a secret is shown, so that its place is found.
EXCERPT = 20


class SecretShared(InvalidInput):
    """Nothing was changed; `field` has the secret, which the message does not show."""

    def __init__(self, place: str, holds: str) -> None:
        super().__init__(f"{place}: expected no secrets, got {holds}. Nothing was changed.")
        self.field = place


def refuse_tokens(place: str, text: str) -> None:
    """Raise SecretShared where a token of this service stands in the text."""
    if holds_token(text):
        raise SecretShared(place, "a Loadsheet token (ls_…)")


def refuse_secrets(place: str, text: str) -> None:
    """As `refuse_tokens`, also for what the rules for uploads take for a secret."""
    refuse_tokens(place, text)
    redacted = Redactor().text(text)
    if redacted != text:
        raise SecretShared(place, f"what looks like a secret at “{_excerpt(text, redacted)}”")


def _excerpt(text: str, redacted: str) -> str:
    """What stands in front of the first secret of the text, without the secret."""
    pairs = enumerate(zip(text, redacted, strict=False))
    begin = next((place for place, (old, new) in pairs if old != new), len(text))
    return " ".join((redacted[max(0, begin - EXCERPT) : begin] + MARK).split())


def refuse_secrets_of(result_set: ResultSet) -> None:
    """Raise SecretShared where people outside the workspace would read a secret."""
    if not result_set.is_shared:
        return
    refuse_secrets("title", result_set.title)
    refuse_secrets("notes", result_set.notes)
    # What was measured came without secrets; names may have been corrected since.
    refuse_tokens("query", result_set.query)
    refuse_tokens("figures", bytes(result_set.snapshot or b"").decode())


def typed_texts(runs: Sequence[Run]) -> Iterator[tuple[UUID, str, str]]:
    """What members wrote and did not undo: the run, the field that it is in, and the text."""
    run_ids = [run.pk for run in runs]
    corrections, dismissals = standing_corrections_of_runs(run_ids), dismissals_of(run_ids)
    for run in runs:
        yield run.pk, "notes", run.notes
        labels = (f"{name}: {value}" for name, value in run.labels.items())
        yield run.pk, "labels", "\n".join(labels)
        for correction in corrections[run.pk]:
            # Former notes and labels are not shown.
            if correction.field not in FREE_TEXTS:
                yield run.pk, "corrections", str([correction.value, *correction.before])
        for dismissal in dismissals[run.pk].values():
            yield run.pk, "dismissals", dismissal.reason
