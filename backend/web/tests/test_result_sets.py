"""Result sets on the web: keeping, changing, and what is left of them."""

import csv
import html
import io
import json
from datetime import UTC, datetime
from urllib.parse import urlencode

import pytest

from backend.accounts.models import Workspace
from backend.runs.models import Server, Trial
from backend.sharing.freezing import freeze, save_live
from backend.sharing.models import Kind, ResultSet, State, Visibility
from backend.testing.hostile_names import HOSTILE
from backend.testing.rows import CellSpec, make_run
from backend.testing.scenes import make_measured_run, make_result_set
from backend.web.tests.pages import html_of, keep

PUBLIC_URL = "http://127.0.0.1:8000"


def again(result_set):
    return ResultSet.objects.get(pk=result_set.pk)


class TestKeeping:
    def test_live_from_the_form(self, owner, scene):
        form = {"query": "metric=p99", "kind": "live", "title": "T", "notes": "**why**"}
        link = owner.post("/w/own-lab/result-sets/new", form)["Location"]
        made = ResultSet.objects.get()
        assert (made.kind, made.query, made.author) == (Kind.LIVE, "metric=p99", scene.own.user)
        page = owner.get(link).content.decode()
        assert "<strong>why</strong>" in page
        assert "Updated at each visit" in page

    def test_a_title_that_repeats_the_finding_is_not_printed_twice(self, owner, scene):
        untitled, titled = keep(scene, title="x"), keep(scene, title="Spring")
        # As earlier versions called a set without a title.
        untitled.title = untitled.frozen_snapshot()["figures"]["finding"]
        untitled.save(update_fields=["title"])
        banners = [
            owner.get(made.path).content.decode().split("set-head")[1].split("</div>")[0]
            for made in (untitled, titled)
        ]
        assert html.escape(untitled.title) not in banners[0]
        assert "<bdi>Spring</bdi>" in banners[1]

    def test_until_the_end_of_a_day(self, owner, scene):
        form = {"query": "", "title": "T", "last_day": "2099-12-30"}
        owner.post("/w/own-lab/result-sets/new", form)
        assert ResultSet.objects.get().expires_at == datetime(2099, 12, 31, tzinfo=UTC)
        assert 'value="2099-12-30"' in owner.get(ResultSet.objects.get().path).content.decode()

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("kind", "melted"),
            ("visibility", "everybody"),
            ("last_day", "soon"),
            ("last_day", "9999-12-31"),
            ("notes", "x" * 10_001),
            ("query", "until=2001-01-01"),
        ],
    )
    def test_a_form_that_is_not_taken(self, owner, scene, field, value):
        answer = owner.post("/w/own-lab/result-sets/new", {"query": "", field: value})
        assert answer.status_code == 400
        assert "Go back" in answer.content.decode()
        assert not ResultSet.objects.exists()

    def test_the_list(self, owner, scene):
        keep(scene, title="The frozen one")
        keep(scene, save_live, "server=secret-server", title="The live one")
        make_measured_run(scene.own.workspace)
        page = owner.get("/w/own-lab/result-sets").content.decode()
        assert page.index("The live one") < page.index("The frozen one")
        assert page.count("1 newer run") == 2
        assert "own-lab" in page

    def test_the_list_has_no_column_without_content(self, owner, scene):
        keep(scene)
        columns = ("Author", "Since then")
        page = owner.get("/w/own-lab/result-sets").content.decode()
        assert [f">{column}</th>" in page for column in columns] == [True, False]
        ResultSet.objects.update(author=None)
        make_measured_run(scene.own.workspace)
        page = owner.get("/w/own-lab/result-sets").content.decode()
        assert [f">{column}</th>" in page for column in columns] == [False, True]

    def test_an_empty_list_says_what_to_do(self, owner):
        assert "press Share" in owner.get("/w/own-lab/result-sets").content.decode()

    def test_a_long_list_has_pages(self, owner, scene):
        for _ in range(26):
            make_result_set(scene.own.workspace, Visibility.PRIVATE)
        assert ">Older</a>" in owner.get("/w/own-lab/result-sets").content.decode()
        assert ">Newer</a>" in owner.get("/w/own-lab/result-sets?page=2").content.decode()
        assert owner.get("/w/own-lab/result-sets?page=x").status_code == 200


class TestChanging:
    def test_notes_beside_the_snapshot(self, owner, scene):
        made = keep(scene)
        before = owner.get(f"{made.path}.json").content
        owner.post(f"{made.path}/edit", {"notes": "# Corrected\r\n\r\n<script>x</script>"})
        page = owner.get(made.path).content.decode()
        assert "<h3>Corrected</h3>" in page
        assert "<script>x" not in page
        assert owner.get(f"{made.path}.json").content == before

    def test_live_and_frozen_ones_get_another_title(self, owner, scene):
        for made in (keep(scene), keep(scene, save_live)):
            before = owner.get(f"{made.path}.json").content
            assert owner.post(f"{made.path}/edit", {"title": "New"}).status_code == 302
            assert again(made).title == "New"
            after = owner.get(f"{made.path}.json").content
            assert (after == before) == made.is_frozen

    def test_without_a_title_it_is_called_after_what_was_measured(self, scene):
        assert keep(scene, title="").title == "hello · wrk · other-server, secret-server"

    def test_superseded_on_both_pages(self, owner, stranger, scene):
        older, newer = keep(scene, title="Older"), keep(scene, title="Newer")
        answer = owner.post(f"{older.path}/supersede", {"by": f"{PUBLIC_URL}{newer.path}?x=1"})
        assert answer.status_code == 302
        for client in (owner, stranger):
            old, new = (client.get(one.path).content.decode() for one in (older, newer))
            assert f'Superseded by <a href="{newer.path}"' in old
            assert f'<a href="{older.path}"' in new
        owner.post(f"{older.path}/supersede", {"by": ""})
        assert again(older).state == State.CURRENT

    def test_a_private_newer_one_is_not_told(self, owner, stranger, scene):
        older = keep(scene)
        newer = keep(scene, title="Hidden title", visibility=Visibility.PRIVATE)
        owner.post(f"{older.path}/supersede", {"by": newer.path})
        page = stranger.get(older.path).content.decode()
        assert "not shared with you" in page
        assert str(newer.link) not in page
        assert "Hidden title" not in page
        assert str(newer.link) in owner.get(older.path).content.decode()
        told = stranger.get(f"/api/v1/result-sets/{older.link}").json()
        assert (told["state"], told["superseded_by"]) == ("superseded", None)

    @pytest.mark.parametrize("by", ["nonsense", "/s/00000000-0000-4000-8000-000000000000", "self"])
    def test_superseded_by_what_is_not_there(self, owner, scene, by):
        made = keep(scene)
        by = made.path if by == "self" else by
        assert owner.post(f"{made.path}/supersede", {"by": by}).status_code in (400, 409)

    def test_superseded_by_one_of_another_workspace(self, owner, scene):
        made = keep(scene)
        foreign = make_result_set(scene.foreign.workspace, Visibility.PUBLIC)
        assert owner.post(f"{made.path}/supersede", {"by": foreign.path}).status_code == 400

    def test_withdrawn_leaves_a_tombstone(self, owner, stranger, scene):
        made = keep(scene)
        owner.post(f"{made.path}/withdraw", {"reason": "the <b>client</b> was the limit"})
        page = stranger.get(made.path)
        assert page.status_code == 410
        assert "the &lt;b&gt;client&lt;/b&gt; was the limit" in page.content.decode()
        assert made.sha256 in page.content.decode()
        body = stranger.get(f"{made.path}.json").json()
        assert body["detail"] == "It was withdrawn: the <b>client</b> was the limit"
        assert body["since"].startswith("20")
        assert owner.post(f"{made.path}/edit", {"notes": "x"}).status_code == 409

    def test_withdrawing_needs_a_reason(self, owner, scene):
        made = keep(scene)
        assert owner.post(f"{made.path}/withdraw", {"reason": " "}).status_code == 409
        assert not again(made).is_gone

    def test_an_expired_one_can_be_shown_again(self, owner, stranger, scene):
        made = keep(scene, expires_at=datetime(2020, 1, 1, tzinfo=UTC))
        assert stranger.get(made.path).status_code == 410
        assert "Show it again" not in stranger.get(made.path).content.decode()
        assert "Show it again" in owner.get(made.path).content.decode()
        owner.post(f"{made.path}/edit", {"last_day": ""})
        assert stranger.get(made.path).status_code == 200

    def test_revoked_moves(self, owner, stranger, scene):
        made = keep(scene, visibility=Visibility.UNLISTED)
        before = stranger.get(f"{made.path}.json").content
        moved = owner.post(f"{made.path}/revoke", {"replace": "1"})["Location"]
        assert moved != made.path
        assert stranger.get(made.path).status_code == 404
        assert stranger.get(f"{moved}.json").content == before

    def test_revoked_is_left_to_its_members(self, owner, stranger, scene):
        made = keep(scene, visibility=Visibility.PUBLIC)
        assert "Revoke link</button>" in html_of(owner.get(made.path))
        answer = owner.post(f"{made.path}/revoke", follow=True)
        html = html_of(answer)
        assert "Only members of the workspace can read this." in html
        assert "Revoke link</button>" not in html
        for address in (made.path, again(made).path, f"{again(made).path}.json"):
            assert stranger.get(address).status_code == 404
        assert owner.get(made.path).status_code == 404


class TestLive:
    def test_one_without_an_answer_says_so_at_every_address(self, owner, stranger, scene):
        made = keep(scene, save_live, f"run={scene.run.pk}")
        scene.upload.delete()
        scene.run.delete()
        assert stranger.get(made.path).status_code == 200
        for suffix in (".json", ".csv", ".png", ".svg"):
            assert stranger.get(made.path + suffix).status_code == 409
        assert "There is no run" in stranger.get(f"{made.path}.json").json()["detail"]
        assert stranger.get(f"/embed/{made.link}").status_code == 409

    def test_newer_runs_are_told_to_those_who_may_read_them(self, owner, stranger, scene):
        frozen, live = keep(scene, freeze, "metric=p50"), keep(scene, save_live, "metric=p50")
        for _ in range(3):
            make_measured_run(scene.own.workspace)
        told = "3 newer runs since"
        assert told in stranger.get(live.path).content.decode()
        assert told in owner.get(frozen.path).content.decode()
        assert told not in stranger.get(frozen.path).content.decode()
        body = stranger.get(f"/api/v1/result-sets/{frozen.link}").json()
        assert body["newer_runs"] is None
        assert stranger.get(f"/api/v1/result-sets/{live.link}").json()["newer_runs"] == 3

        Workspace.objects.filter(pk=scene.own.workspace.pk).update(is_public=True)
        assert told in stranger.get(frozen.path).content.decode()
        assert stranger.get(f"/api/v1/result-sets/{frozen.link}").json()["newer_runs"] == 3


class TestChanges:
    def test_what_changed(self, owner, scene):
        made = keep(scene)
        assert "The figures did not change" in owner.get(f"{made.path}/changes").content.decode()
        Trial.objects.filter(run=scene.run).update(throughput_rps=1234.0)
        scene.own.workspace.changed()
        page = owner.get(f"{made.path}/changes").content.decode()
        assert "1,230 req/s" in page
        body = owner.get(f"/api/v1/result-sets/{made.link}/changes").json()
        assert body["changed"] is True
        assert {one["metric"] for one in body["figures"]} == {"throughput"}
        assert all(one["after"] == pytest.approx(1234.0) for one in body["figures"])

    def test_a_run_that_is_gone(self, owner, scene):
        made = keep(scene)
        run_id = str(scene.run.pk)
        scene.upload.delete()
        scene.run.delete()
        assert run_id[:8] in owner.get(f"{made.path}/changes").content.decode()
        body = owner.get(f"/api/v1/result-sets/{made.link}/changes").json()
        assert body["missing_runs"] == [run_id]
        assert body["after"] is None

    def test_a_live_one_has_none(self, owner, scene):
        assert owner.get(f"{keep(scene, save_live).path}/changes").status_code == 404


DRAWN = "metric=p99&view=nines&logx=0&logy=1&hidden=00ff00ff&zoom=8&zoom=64"


class TestFields:
    """What an address does not take is refused, never passed over."""

    @pytest.mark.parametrize(
        ("address", "field", "allowed"),
        [
            *((kind, "foo=1", "foo") for kind in ("{s}", "{s}.json", "{s}.csv", "{s}.png")),
            ("{s}.svg", "foo=1", "series"),
            ("{e}", "foo=1", "metric, view, logx, logy, hidden, zoom, theme"),
            ("{s}", "metric=bogus", "throughput"),
            ("{s}", "metric=p50&metric=p99", "one value"),
            ("{s}", "limit=1000", "metric, view, logx, logy, hidden, zoom"),
            ("{s}.json", "metric=p99", "This address takes no fields"),
            ("{s}.png", "metric=p99", "This address takes no fields"),
            ("{s}.csv", "view=bogus", "sweep, nines"),
            ("{s}.csv", "metric=p99", "Fields are view"),
            ("{e}", "metric=bogus", "throughput"),
            ("{e}", "view=bogus", "sweep, nines"),
            ("{e}", "logy=2", "0 or 1"),
            ("{e}", "theme=bogus", "light, dark"),
        ],
    )
    def test_refused_with_what_is_allowed(self, stranger, scene, address, field, allowed):
        made = keep(scene)
        path = address.format(s=made.path, e=f"/embed/{made.link}")
        answer = stranger.get(f"{path}?{field}")
        assert answer.status_code == 400
        said = html.unescape(answer.content.decode())
        if answer["Content-Type"] == "application/problem+json":
            said = answer.json()["detail"]
        name, got = field.split("&")[0].split("=")
        assert name in said
        assert allowed in said
        if got == "bogus":
            assert f"got “{got}”" in said
        if path.endswith(".json"):
            assert answer["Content-Type"] == "application/problem+json"
        assert stranger.get(path).status_code == 200

    @pytest.mark.parametrize("theme", ["", "&theme=dark", "&theme="])
    def test_a_reader_chooses_how_it_is_drawn(self, stranger, scene, theme):
        made = keep(scene)
        assert stranger.get(f"/embed/{made.link}?{DRAWN}{theme}").status_code == 200
        assert stranger.get(f"{made.path}?{DRAWN}").status_code == 200

    def test_a_link_that_another_site_passed_on_still_leads_here(self, stranger, scene):
        path = keep(scene).path
        for added in ("utm_source=x&utm_medium=y", "fbclid=x", "msclkid=x", "mc_eid=x"):
            assert stranger.get(f"{path}?{added}").status_code == 200
        assert stranger.get(f"{path}?client=x").status_code == 400

    def test_what_is_gone_is_gone_whatever_is_asked(self, stranger, scene):
        made = keep(scene, expires_at=datetime(2020, 1, 1, tzinfo=UTC))
        assert stranger.get(f"{made.path}.json?foo=1").status_code == 410
        assert stranger.get(f"/embed/{made.link}?foo=1").status_code == 410


# A database column holds 200 characters of a name; the images and badges are tested with more.
@pytest.mark.parametrize("start", range(0, len(HOSTILE), 8))
def test_hostile_names_stay_text_everywhere(owner, stranger, scene, start):
    names = [name.replace("\0", "")[:200] for name in HOSTILE[start : start + 8]]
    run = make_run(
        scene.own.workspace,
        *(CellSpec(name, version=name, tool=f"wrk{n}") for n, name in enumerate(names)),
        host={"name": names[0], "cpu_model": names[-1]},
    )
    evil = " ".join(names)[:190]
    form = {"query": f"run={run.pk}", "title": evil, "notes": evil, "visibility": "public"}
    link = owner.post("/w/own-lab/result-sets/new", form)["Location"]
    made = ResultSet.objects.get()
    for path in (link, f"/embed/{made.link}", "/w/own-lab/result-sets", f"{link}/changes"):
        answer = owner.get(path)
        assert answer.status_code == 200, path
        page = answer.content.decode()
        for name in names:
            if "<" in name:
                assert name not in page, (path, name)
        assert "onerror=alert(1)>" not in page
    document = json.loads(stranger.get(f"{link}.json").content)
    assert {one["server"] for one in document["figures"]["series"]} == set(names)
    rows = list(csv.reader(io.StringIO(stranger.get(f"{link}.csv").content.decode(), newline="")))
    cells = [cell for row in rows[1:] for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "@", "\t"))]
    for suffix in (".svg", ".png"):
        assert stranger.get(link + suffix).status_code == 200
    oembed = stranger.get("/oembed?" + urlencode({"url": f"{PUBLIC_URL}{link}"})).json()
    assert oembed["html"].count("<") == 2
    assert Server.objects.filter(name=names[0]).exists()
