"""A run keeps so many dismissals, those that were undone included."""

import pytest

from backend.ingest.queue.worker import process
from backend.runs.amending import dismissals
from backend.runs.amending.dismissals import DismissalRefused, dismiss, fired_in, undo
from backend.runs.models import Dismissal, Run
from backend.storage import storage
from backend.testing.uploads import make_tenant, make_upload

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    storage.cache_clear()
    process(make_upload(make_tenant()).pk)
    yield Run.objects.get()
    storage.cache_clear()


def test_a_script_that_dismisses_and_undoes_ends_at_the_limit(run, monkeypatch):
    monkeypatch.setattr(dismissals, "MAX_DISMISSALS", 2)
    check = min(fired_in(run))
    for _ in range(2):
        dismiss(run, check, reason="known", author=None)
        undo(run, check, by=None)
    with pytest.raises(DismissalRefused, match="dismissed 2 times, undone ones included"):
        dismiss(run, check, reason="known", author=None)
    assert Dismissal.objects.count() == 2
