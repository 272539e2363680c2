"""Result sets on other sites: cards, images, badges, frames, oEmbed and exported tables."""

import csv
import html
import io
import json
import re
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import pytest
from django.utils import timezone

from backend.analysis.loading.viewer_slots import TooManyComparisons
from backend.sharing import drawing
from backend.sharing.freezing import save_live
from backend.sharing.models import Visibility
from backend.testing.rows import CellSpec, make_run
from backend.web.tests.pages import keep

PUBLIC_URL = "http://127.0.0.1:8000"


class TestElsewhere:
    def test_a_pasted_link_shows_the_chart(self, stranger, scene):
        made = keep(scene)
        page = stranger.get(made.path).content.decode()
        url = f"{PUBLIC_URL}{made.path}"
        for line in (
            f'<meta property="og:image" content="{url}.png">',
            '<meta property="og:title" content="A title">',
            '<meta name="twitter:card" content="summary_large_image">',
            f'<link rel="canonical" href="{url}">',
        ):
            assert line in page
        [oembed] = re.findall(r'type="application/json\+oembed" href="([^"]+)"', page)
        answer = stranger.get(html.unescape(oembed).removeprefix(PUBLIC_URL)).json()
        assert answer["title"] == "A title"

    def test_the_html_to_embed_is_text_on_the_page(self, owner, scene):
        page = owner.get(keep(scene).path).content.decode()
        assert "&lt;iframe src=" in page
        assert "<iframe" not in page

    def test_a_private_one_tells_other_sites_nothing(self, owner, scene):
        page = owner.get(keep(scene, visibility=Visibility.PRIVATE).path).content.decode()
        assert "og:" not in page
        assert "oembed" not in page

    def test_the_image(self, stranger, scene):
        made = keep(scene)
        answer = stranger.get(f"{made.path}.png")
        assert answer["Content-Type"] == "image/png"
        assert answer["Cache-Control"] == "public, max-age=300"
        assert answer.content.startswith(b"\x89PNG")
        again = stranger.get(f"{made.path}.png", headers={"if-none-match": answer["ETag"]})
        assert again.status_code == 304

    def test_no_cache_outlives_it(self, stranger, scene):
        made = keep(scene, expires_at=timezone.now() + timedelta(seconds=60))
        kept = stranger.get(f"{made.path}.png")["Cache-Control"]
        assert 0 < int(kept.removeprefix("public, max-age=")) <= 60

    def test_without_an_image_the_page_still_works(self, stranger, scene, monkeypatch):
        made = keep(scene)
        monkeypatch.setenv("PATH", "/nonexistent")
        answer = stranger.get(f"{made.path}.png")
        assert answer.status_code == 503
        assert "Node is not installed" in answer.content.decode()
        assert stranger.get(made.path).status_code == 200

    def test_a_busy_service_says_when_to_come_back(self, stranger, scene, monkeypatch):
        def busy(_):
            raise drawing.BusyDrawing

        monkeypatch.setattr(drawing, "image_of", busy)
        answer = stranger.get(f"{keep(scene).path}.png")
        assert (answer.status_code, answer["Retry-After"]) == (503, "2")

    @pytest.mark.parametrize("ending", [".png", ".svg", ".json", ".atom"])
    def test_a_refusal_says_when_to_come_back_and_is_no_page(
        self, stranger, scene, monkeypatch, ending
    ):
        def refuse(*_, **__):
            raise TooManyComparisons

        path = f"{keep(scene, save_live).path}{ending}"
        monkeypatch.setattr("backend.sharing.reading.compare_as_json", refuse)
        monkeypatch.setattr("backend.web.results.feeds.entries_of_result_set", refuse)
        answer = stranger.get(path)
        assert (answer.status_code, answer["Retry-After"]) == (429, "2")
        assert answer["Content-Type"] == "application/problem+json"
        assert answer.json()["hint"] == "Try again in 2 seconds."

    def test_a_refused_frame_can_be_framed(self, stranger, scene, monkeypatch):
        def refuse(*_, **__):
            raise TooManyComparisons

        made = keep(scene, save_live)
        monkeypatch.setattr("backend.sharing.reading.compare_as_json", refuse)
        answer = stranger.get(f"/embed/{made.link}")
        assert (answer.status_code, answer["Retry-After"]) == (429, "2")
        assert "frame-ancestors *" in answer["Content-Security-Policy"]
        assert "X-Frame-Options" not in answer
        assert "Try again in 2 seconds." in answer.content.decode()

    def test_the_badge(self, stranger, scene):
        made = keep(scene)
        answer = stranger.get(f"{made.path}.svg")
        assert answer["Content-Type"] == "image/svg+xml"
        assert answer["Cache-Control"] == "public, max-age=300"
        assert "script-src 'none'" in answer["Content-Security-Policy"]
        assert 'role="img" aria-label="A title: ' in answer.content.decode()
        figures = stranger.get(f"{made.path}.json").json()["figures"]
        last = figures["ranking"]["rows"][-1]
        asked = stranger.get(f"{made.path}.svg?series={last['series']}").content.decode()
        assert last["label"] in asked
        wrong = stranger.get(f"{made.path}.svg?series=00000000")
        assert wrong.status_code == 400
        assert last["series"] in wrong.content.decode()

    def test_the_badge_of_panels(self, stranger, scene):
        made = keep(scene, text=f"run={scene.run.pk}&facet=server")
        figures = stranger.get(f"{made.path}.json").json()["figures"]
        assert figures["ranking"] is None
        for panel in figures["panels"]:
            row = panel["ranking"]["rows"][0]
            badge = stranger.get(f"{made.path}.svg?series={row['series']}").content.decode()
            assert f"A title: {row['label']} " in badge

    def test_the_frame_is_open_and_knows_nobody(self, owner, scene):
        made = keep(scene)
        answer = owner.get(f"/embed/{made.link}")
        assert "frame-ancestors *" in answer["Content-Security-Policy"]
        assert "X-Frame-Options" not in answer
        assert not answer.cookies
        assert "Cookie" not in answer.get("Vary", "")
        page = answer.content.decode()
        assert "own-lab</" not in page  # nobody is signed in here
        assert "csrf" not in page
        sent = re.search(r'<script id="figures" type="application/json">(.*?)</script>', page)
        assert json.loads(sent[1])["series"]

    def test_outcome_and_what_is_left_out_travel(self, stranger, scene, monkeypatch):
        monkeypatch.setattr("backend.analysis.grouping.series.MAX_SERIES", 1)
        run = make_run(
            scene.own.workspace,
            *(CellSpec(name, trial_checks=["error-rate-high"]) for name in ("a", "b")),
        )
        made = keep(scene, text=f"run={run.pk}")
        figures = stranger.get(f"{made.path}.json").json()["figures"]
        [reason] = figures["outcome"]["reasons"]
        said = f"Use with care: 1 warning – {reason}"
        frame = html.unescape(stranger.get(f"/embed/{made.link}").content.decode())
        shown = frame.partition('<script id="figures"')[0]
        assert said in shown
        assert figures["truncated"] in shown
        [card] = re.findall(
            r'property="og:description" content="([^"]+)"',
            stranger.get(made.path).content.decode(),
        )
        assert said in html.unescape(card)
        rows = csv.DictReader(io.StringIO(stranger.get(f"{made.path}.csv").content.decode()))
        assert {(row["reasons"], row["truncated"]) for row in rows} == {
            (reason, figures["truncated"])
        }

    def test_the_table_is_of_the_view_that_was_kept_or_of_the_asked_one(self, stranger, scene):
        made = keep(scene, text=f"run={scene.run.pk}&view=nines")
        figures = stranger.get(f"{made.path}.json").json()["figures"]
        curves = stranger.get(f"{made.path}.csv").content.decode()
        assert ("percent,latency_us" in curves) is bool(figures["curves"])
        sweep = stranger.get(f"{made.path}.csv?view=sweep").content.decode()
        assert "throughput_rps_low" in sweep.splitlines()[0]

    def test_no_other_page_is_framed(self, owner, scene):
        private = keep(scene, visibility=Visibility.PRIVATE)
        for path in (private.path, keep(scene).path, f"/embed/{private.link}"):
            answer = owner.get(path)
            assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]
            assert answer["X-Frame-Options"] == "DENY"

    def test_a_frame_of_what_is_gone(self, stranger, scene):
        made = keep(scene, expires_at=datetime(2020, 1, 1, tzinfo=UTC))
        answer = stranger.get(f"/embed/{made.link}")
        assert answer.status_code == 410
        assert "This link has expired" in answer.content.decode()

    def test_oembed(self, stranger, scene):
        made = keep(scene)
        asked = urlencode({"url": f"{PUBLIC_URL}{made.path}", "maxwidth": 400, "maxheight": 99999})
        answer = stranger.get(f"/oembed?{asked}")
        body = answer.json()
        assert (body["version"], body["type"]) == ("1.0", "rich")
        assert (body["width"], body["height"]) == (400, 480)
        assert f'src="{PUBLIC_URL}/embed/{made.link}"' in body["html"]
        assert body["thumbnail_url"] == f"{PUBLIC_URL}{made.path}.png"
        assert answer["Access-Control-Allow-Origin"] == "*"
        assert not answer.cookies

    def test_an_image_that_grows_with_its_table_has_no_size_promised(self, stranger, scene):
        made = keep(scene, save_live, "view=ratios", title="Ratios")
        asked = urlencode({"url": f"{PUBLIC_URL}{made.path}"})
        assert "thumbnail_height" not in stranger.get(f"/oembed?{asked}").json()
        assert "og:image:height" not in stranger.get(made.path).content.decode()
        usual = keep(scene, save_live, "", title="Sweep")
        assert "og:image:height" in stranger.get(usual.path).content.decode()

    @pytest.mark.parametrize(
        "url",
        [
            "",
            "nonsense",
            "https://example.org{path}",
            "http://127.0.0.1:8000.example.org{path}",
            "http://127.0.0.1:8000/w/own-lab/compare",
            "http://127.0.0.1:8000{path}/edit",
            "javascript:alert(1)//127.0.0.1:8000{path}",
            "http://127.0.0.1:8000/s/" + "-" * 36,
        ],
    )
    def test_oembed_of_what_is_not_ours(self, stranger, scene, url):
        asked = urlencode({"url": url.format(path=keep(scene).path)})
        assert stranger.get(f"/oembed?{asked}").status_code == 404

    def test_oembed_in_another_format(self, stranger, scene):
        asked = urlencode({"url": f"{PUBLIC_URL}{keep(scene).path}", "format": "xml"})
        assert stranger.get(f"/oembed?{asked}").status_code == 501

    @pytest.mark.parametrize("visibility", Visibility)
    def test_other_sites_may_read_what_is_shared_only(self, owner, scene, visibility):
        made = keep(scene, visibility=visibility)
        for suffix in (".json", ".csv", ".png", ".svg"):
            answer = owner.get(made.path + suffix)
            assert ("Access-Control-Allow-Origin" in answer) is made.is_shared
            if not made.is_shared:
                assert answer["Cache-Control"] == "private, no-store"
        assert "Access-Control-Allow-Origin" not in owner.get(made.path)
