"""A frozen result set stays as it is when its runs are corrected, and says so to members."""

import pytest
from django.test import Client

from backend.analysis.query.compare_query import CompareQuery
from backend.runs.amending.editing import correct, undo_correction
from backend.sharing.freezing import Description, freeze
from backend.sharing.models import Visibility
from backend.sharing.newer_runs import corrections_since
from backend.web.tests.pages import html_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def frozen(scene):
    return freeze(
        CompareQuery.parse(""),
        workspace=scene.own.workspace,
        author=scene.own.user,
        description=Description(title="T", visibility=Visibility.PUBLIC),
    )


def test_it_keeps_its_bytes_and_says_that_its_runs_were_corrected(owner, scene, frozen):
    address, page = f"/s/{frozen.link}.json", f"/s/{frozen.link}"
    before = Client().get(address).content
    assert corrections_since(frozen) == 0
    assert "correction" not in html_of(owner.get(page))
    made = correct(scene.run.pk, {"server": "caddy", "version": "2"}, author=None)
    assert "2 corrections since" in html_of(owner.get(page))
    assert "correction" not in html_of(Client().get(page))
    changes = html_of(owner.get(f"{page}/changes"))
    assert "Members made or undid 2 corrections of its runs since." in changes
    assert Client().get(address).content == before
    undo_correction(scene.run.pk, made[0].pk, by=None)
    assert Client().get(address).content == before


def test_what_was_corrected_before_is_in_it(scene):
    correct(scene.run.pk, {"server": "caddy"}, author=None)
    made = freeze(
        CompareQuery.parse(""),
        workspace=scene.own.workspace,
        author=None,
        description=Description(title="T"),
    )
    assert corrections_since(made) == 0
    assert b"caddy" in bytes(made.snapshot)
