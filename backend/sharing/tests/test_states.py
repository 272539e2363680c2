"""The ends a result set may come to, and what may still be said of it."""

import uuid
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from backend.sharing.edits import EditRefused, edit, revoke, supersede, withdraw
from backend.sharing.models import Kind, ResultSet, State, Visibility
from backend.sharing.reading import find_result_set
from backend.testing.rows import make_workspace
from backend.testing.scenes import make_result_set


@pytest.fixture
def lab(db):
    return make_workspace("lab")


@pytest.fixture
def made(lab):
    return make_result_set(lab, Visibility.PUBLIC)


def again(result_set):
    return ResultSet.objects.get(pk=result_set.pk)


def test_at_first_it_is_current(made):
    assert made.state == State.CURRENT
    assert not made.is_gone


def test_it_expires(made):
    edit(made, expires_at=timezone.now() + timedelta(hours=1))
    assert again(made).state == State.CURRENT
    edit(made, expires_at=timezone.now())
    assert again(made).state == State.EXPIRED
    assert again(made).is_gone
    edit(made, expires_at=None)
    assert again(made).state == State.CURRENT


def test_withdrawn_is_for_good(made):
    withdraw(made, " the client was the limit ")
    assert again(made).state == State.WITHDRAWN
    assert again(made).withdrawn_reason == "the client was the limit"
    for change in (
        lambda: edit(made, notes="x"),
        lambda: withdraw(made, "again"),
        lambda: revoke(made),
        lambda: supersede(made, None),
    ):
        with pytest.raises(EditRefused, match="withdrawn permanently"):
            change()


@pytest.mark.parametrize("reason", ["", " \n"])
def test_withdrawing_needs_a_reason(made, reason):
    with pytest.raises(EditRefused, match="reason"):
        withdraw(made, reason)
    assert again(made).state == State.CURRENT


def test_superseded_names_the_newer_one(made, lab):
    newer = make_result_set(lab, Visibility.PUBLIC)
    supersede(made, newer)
    assert again(made).state == State.SUPERSEDED
    assert list(newer.supersedes.all()) == [made]
    supersede(made, None)
    assert again(made).state == State.CURRENT


def test_superseding_makes_no_ring(made, lab):
    second, third = (make_result_set(lab, Visibility.PUBLIC) for _ in range(2))
    supersede(made, second)
    supersede(second, third)
    for older in (made, second, third):
        with pytest.raises(EditRefused, match="superseded by this one"):
            supersede(third, older)
    with pytest.raises(IntegrityError), transaction.atomic():
        ResultSet.objects.filter(pk=made.pk).update(superseded_by=made.pk)


def test_superseding_stays_in_the_workspace(made):
    foreign = make_result_set(make_workspace("theirs"), Visibility.PUBLIC)
    with pytest.raises(EditRefused, match="same workspace"):
        supersede(made, foreign)


def test_a_withdrawn_one_supersedes_nothing(made, lab):
    newer = make_result_set(lab, Visibility.PUBLIC)
    withdraw(newer, "wrong")
    with pytest.raises(EditRefused, match="withdrawn"):
        supersede(made, newer)


def test_revoking_moves_it_to_an_address_nobody_knows(made):
    old = made.link
    revoke(made)
    assert find_result_set(old, workspace_ids=[made.workspace_id]) is None
    assert find_result_set(again(made).link, workspace_ids=[]) == made
    assert again(made).pk == made.pk


def test_a_frozen_one_gets_another_title_and_keeps_its_bytes(made):
    before = bytes(made.snapshot)
    edit(made, title="another", notes="fine")
    changed = again(made)
    assert (changed.title, changed.notes) == ("another", "fine")
    assert bytes(changed.snapshot) == before


@pytest.mark.parametrize(
    ("own", "other", "named"),
    [
        ("public", "public", True),
        ("public", "unlisted", False),
        ("public", "private", False),
        ("unlisted", "public", True),
        ("unlisted", "unlisted", True),
        ("unlisted", "private", False),
        ("private", "private", True),
    ],
)
def test_no_page_tells_of_one_that_is_less_open(own, other, named, lab):
    page, linked = ResultSet(visibility=own), make_result_set(lab, other)
    assert page.may_name(linked) is named


def test_a_live_one_has_no_snapshot_and_a_frozen_one_has(lab):
    for fields in ({"kind": Kind.LIVE, "snapshot": b"{}"}, {"kind": Kind.FROZEN}):
        with pytest.raises(IntegrityError), transaction.atomic():
            ResultSet.objects.create(id=uuid.uuid4(), workspace=lab, title="x", **fields)
