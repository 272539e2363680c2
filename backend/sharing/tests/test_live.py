"""Live result sets: a question answered at each reading, and the runs that came since."""

import json
import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from backend.analysis.loading.selection import NotVisible
from backend.analysis.query.compare_query import CompareQuery, QueryError
from backend.formats.model import ParsedTrial
from backend.formats.read_trial import ReadTrial
from backend.ingest.removing.removal import remove_run
from backend.runs.amending.renaming import rename
from backend.runs.measured.measured import TrialRecord
from backend.runs.models import FormerName, Run
from backend.runs.recording.record import RunInput, record_run
from backend.sharing.differences import differences_since
from backend.sharing.freezing import Description, freeze, save_live
from backend.sharing.models import ResultSet
from backend.sharing.newer_runs import count_newer_runs, newer_runs
from backend.sharing.reading import Reading, find_result_set
from backend.testing.rows import HELLO, CellSpec, make_run, make_workspace


@pytest.fixture
def lab(db):
    return make_workspace("lab")


def live(lab, text="", **card):
    return save_live(
        CompareQuery.parse(text), workspace=lab, author=None, description=Description(**card)
    )


def frozen(lab, text=""):
    return freeze(CompareQuery.parse(text), workspace=lab, author=None, description=Description())


def read(result_set):
    found = find_result_set(result_set.link, workspace_ids=[result_set.workspace_id])
    return json.loads(Reading(found, "viewer").json)


def servers(document):
    return {one["server"] for one in document["figures"]["series"]}


def test_it_shows_what_is_there_now(lab):
    make_run(lab, CellSpec("sync"))
    made = live(lab, "metric=p99")
    assert servers(read(made)) == {"sync"}
    make_run(lab, CellSpec("gthread"))
    document = read(made)
    assert servers(document) == {"sync", "gthread"}
    assert document["kind"] == "live"
    assert document["figures"]["metric"] == "p99"
    assert made.sha256 == ""


def test_its_title_says_nothing_that_may_change(lab):
    make_run(lab, CellSpec())
    assert live(lab).title == "Live comparison"


def test_equal_figures_are_equal_bytes(lab):
    make_run(lab, CellSpec())
    made = live(lab)
    assert Reading(made, "viewer").json == Reading(ResultSet.objects.get(pk=made.pk), "viewer").json


def test_it_shows_nothing_of_another_workspace(lab):
    make_run(lab, CellSpec("ours"))
    make_run(make_workspace("theirs"), CellSpec("foreign"))
    assert servers(read(live(lab))) == {"ours"}
    assert servers(read(live(lab, "workspace=lab"))) == {"ours"}


def test_it_outlives_a_new_slug(lab):
    make_run(lab, CellSpec("sync"))
    made = live(lab, "workspace=lab")
    lab.slug = "renamed"
    lab.save()
    assert servers(read(made)) == {"sync"}


def test_a_question_whose_run_is_gone_says_so(lab):
    run = make_run(lab, CellSpec())
    made = live(lab, f"run={run.pk}")
    run.delete()
    with pytest.raises(NotVisible):
        read(made)


def test_a_question_that_means_nothing_any_more_says_so(lab):
    make_run(lab, CellSpec())
    made = live(lab)
    ResultSet.objects.filter(pk=made.pk).update(query="dropped=1")
    with pytest.raises(QueryError):
        read(made)
    # Nothing newer arrived, so the question is not asked.
    assert newer_runs(ResultSet.objects.get(pk=made.pk)) == 0
    make_run(lab, CellSpec())
    assert newer_runs(ResultSet.objects.get(pk=made.pk)) is None


def test_a_server_whose_last_run_is_gone_breaks_nothing(lab, client):
    run = make_run(lab, CellSpec("alpha"), CellSpec("beta"))
    query = "server=alpha&server=beta"
    kept, gone, open_ = frozen(lab, query), frozen(lab, "server=beta"), live(lab, query)
    ResultSet.objects.update(visibility="unlisted")
    make_run(lab, CellSpec("alpha"), CellSpec("secret"))
    before = Reading(kept, "viewer").json
    remove_run(run)
    assert (newer_runs(kept), newer_runs(gone), newer_runs(open_)) == (1, 0, 1)
    assert Reading(ResultSet.objects.get(pk=kept.pk), "viewer").json == before
    assert client.get(kept.path).status_code == client.get(gone.path).status_code == 200
    found = differences_since(kept, viewer="viewer")
    assert (found.after, len(found.missing_runs)) == (None, 1)
    # What a live question cannot show any more is said, and nothing of what else there is.
    for path in (f"{open_.path}.json", f"{open_.path}.csv", f"/embed/{open_.link}"):
        answer = client.get(path)
        assert answer.status_code == 409
        assert "beta" in answer.content.decode()
        assert "secret" not in answer.content.decode()


def test_what_is_left_of_a_frozen_question_is_still_compared(lab):
    make_run(lab, CellSpec("alpha"))
    gone = make_run(lab, CellSpec("beta"))
    made = frozen(lab, "server=alpha&server=beta&at=64")
    remove_run(gone)
    found = differences_since(made, viewer="viewer")
    assert len(found.missing_runs) == 1
    assert found.after is not None
    assert "alpha" in found.after[0]
    assert len(found.gone) == 1


@pytest.mark.parametrize("make", [live, frozen])
def test_newer_runs_are_those_that_the_question_would_show(lab, make):
    make_run(lab, CellSpec("sync"))
    made = make(lab, "server=sync")
    assert newer_runs(made) == 0
    make_run(lab, CellSpec("sync"))
    make_run(lab, CellSpec("sync"), CellSpec("gthread"))
    make_run(lab, CellSpec("gthread"))
    make_run(make_workspace("theirs"), CellSpec("sync"))
    assert newer_runs(made) == 2


def test_a_list_counts_for_each_what_it_counts_alone(lab, django_assert_max_num_queries):
    run = make_run(lab, CellSpec("sync"), CellSpec("gthread"))
    made = []
    for number in range(4):
        made += [live(lab, "server=sync"), frozen(lab, "server=gthread"), live(lab)]
        make_run(lab, CellSpec("sync"))
        make_run(lab, CellSpec("gthread", rates=(900.0 + number, 901.0, 902.0)))
    made += [frozen(lab, f"run={run.pk}"), live(lab, f"run={run.pk}")]
    rows = ResultSet.objects.filter(pk__in=[each.pk for each in made])
    sets = list(rows.select_related("workspace").order_by("created_at"))
    sets[0].query = "dropped=1"
    alone = {each.pk: newer_runs(each) for each in sets}
    assert {None, 0, 1, 4, 8} <= set(alone.values())
    assert count_newer_runs(sets) == alone
    with django_assert_max_num_queries(30) as of_three:
        count_newer_runs(sets[1:4])
    with django_assert_max_num_queries(len(of_three)):
        count_newer_runs(sets[1:13])


def test_a_run_recorded_before_is_not_newer(lab):
    make_run(lab, CellSpec())
    made = live(lab)
    older = make_run(lab, CellSpec())
    Run.objects.filter(pk=older.pk).update(recorded_at=timezone.now() - timedelta(days=1))
    assert newer_runs(made) == 0


def test_a_frozen_choice_of_runs_is_followed_by_runs_of_the_same_servers(lab):
    run = make_run(lab, CellSpec("sync"))
    made = frozen(lab, f"run={run.pk}")
    kept = live(lab, f"run={run.pk}")
    make_run(lab, CellSpec("sync"))
    make_run(lab, CellSpec("gthread"))
    assert newer_runs(made) == 1
    assert newer_runs(kept) == 0


@pytest.mark.parametrize("keep", [live, frozen])
def test_it_outlives_renamings(lab, keep):
    make_run(lab, CellSpec("sync"))
    made = keep(lab, "server=sync&workload=hello")
    rename(lab, FormerName.Kind.SERVER, "sync", "new", None)
    rename(lab, FormerName.Kind.WORKLOAD, "hello", "newer", None)
    make_run(lab, CellSpec("gthread", workload={**HELLO, "name": "newer"}))
    assert newer_runs(made) == 0
    facts = RunInput(id=uuid.uuid4(), workspace=lab)
    load = {"tool": "wrk", "loop": "closed", "connections": 64}
    reading = ReadTrial(parsed=ParsedTrial(tool="wrk", elapsed_s=1.0, requests_completed=9))
    record_run(facts, [TrialRecord(0, {"name": "sync"}, {"name": "hello"}, load, reading)])
    assert newer_runs(made) == 1
    if keep is live:
        document = read(made)
        assert document["query"] == "server=new&workload=newer&workspace=lab"
        assert servers(document) == {"new"}
        assert len(document["runs"]) == 2


def test_a_run_that_tells_nothing_is_no_newer_one(lab):
    make_run(lab, CellSpec("sync"))
    made = live(lab, "server=sync")
    make_run(lab, CellSpec("sync", rates=(None,)))
    make_run(lab, CellSpec("sync", rates=()))
    assert newer_runs(made) == 0


@pytest.mark.parametrize("make", [live, frozen])
def test_a_renamed_server_whose_last_run_is_gone_breaks_nothing(lab, make):
    run = make_run(lab, CellSpec("old"))
    make_run(lab, CellSpec("sync"))
    made = make(lab, "server=old&server=sync")
    rename(lab, FormerName.Kind.SERVER, "old", "new", None)
    remove_run(run)
    make_run(lab, CellSpec("sync"))
    assert newer_runs(made) == 1
    if made.is_frozen:
        assert "sync" in differences_since(made, viewer="viewer").after[0]
