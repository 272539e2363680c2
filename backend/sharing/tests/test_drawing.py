"""Images: drawn by the browser's charts, kept, bounded, and honest about what is missing."""

import struct
import threading
import zlib
from pathlib import Path

import msgspec
import orjson
import pytest
from django.core.cache import caches

from backend.analysis.compare.comparison import compare
from backend.analysis.query.compare_query import CompareQuery
from backend.analysis.query.view_ids import VIEWS
from backend.runs.models import Server
from backend.runs.registry.identity import canonical_json
from backend.sharing import drawing
from backend.sharing.edits import revoke, withdraw
from backend.sharing.freezing import Description, freeze, save_live
from backend.sharing.models import Drawing, ResultSet, Visibility
from backend.sharing.reading import Reading
from backend.sharing.tasks import draw as draw_task
from backend.testing.hostile_names import HOSTILE
from backend.testing.rows import HELLO, CellSpec, make_run, make_workspace
from backend.untrusted.sandbox.fair_slots import Slots

pytestmark = pytest.mark.processes

SIGNATURE = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def lab(db):
    workspace = make_workspace("lab")
    make_run(workspace, CellSpec("sync"), CellSpec("gthread", rates=(2000.0, 2020.0, 1980.0)))
    return workspace


@pytest.fixture
def drawn(monkeypatch):
    """Every scene that was really drawn."""
    scenes, real = [], drawing.draw

    def counted(scene):
        scenes.append(scene)
        return real(scene)

    monkeypatch.setattr(drawing, "draw", counted)
    return scenes


def made(lab, keep=freeze, text=""):
    return keep(
        CompareQuery.parse(text), workspace=lab, author=None, description=Description(title="T")
    )


def image_of(result_set):
    return drawing.image_of(Reading(ResultSet.objects.get(pk=result_set.pk), "viewer"))


def size_of(png):
    assert png.startswith(SIGNATURE)
    return struct.unpack(">II", png[16:24])


def test_an_image_of_the_size_that_sites_show(lab):
    png = image_of(made(lab))
    assert size_of(png) == (1200, 630)
    assert len(png) > 10_000


def test_its_background_is_painted(lab):
    png = image_of(made(lab))
    assert png[24:26] == bytes([8, 6])  # eight bits of red, green, blue and alpha
    data, at = b"", 33
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        data += png[at + 8 : at + 8 + length] if kind == b"IDAT" else b""
        at += 12 + length
    # The very first pixel is the same under every filter.
    assert zlib.decompress(data)[1:5] == b"\xff\xff\xff\xff"


def test_it_is_drawn_once(lab, drawn):
    result_set = made(lab)
    assert image_of(result_set) == image_of(result_set)
    assert len(drawn) == 1
    assert b'"date":"frozen 20' in drawn[0]
    assert str(result_set.link).encode() in drawn[0]


def test_a_worker_draws_it_before_it_is_asked_for(lab, drawn):
    result_set = made(lab)
    draw_task(str(result_set.pk))
    image_of(result_set)
    assert len(drawn) == 1
    draw_task(str(lab.pk))  # a forged message does nothing


def test_what_is_gone_is_not_drawn(lab, drawn):
    result_set = made(lab)
    withdraw(result_set, "wrong")
    draw_task(str(result_set.pk))
    assert not drawn


def test_a_live_one_is_drawn_again_when_it_shows_something_else(lab, drawn):
    result_set = made(lab, save_live)
    image_of(result_set)
    make_run(lab, CellSpec("third"))
    image_of(result_set)
    image_of(result_set)
    assert len(drawn) == 2
    assert Drawing.objects.count() == 1


def test_a_new_address_is_a_new_image(lab, drawn):
    result_set = made(lab)
    old = str(result_set.link).encode()
    image_of(result_set)
    revoke(result_set)
    image_of(result_set)
    assert len(drawn) == 2
    assert f"/s/{result_set.link}".encode() in drawn[1]
    assert b"/s/" + old not in drawn[1]


def test_the_override_is_in_the_image():
    """Two images of the same figures, one of them marked."""
    scenes = [scene(status="not_comparable", query=query) for query in ("", "override=1")]
    plain, overridden = (drawing.draw(one) for one in scenes)
    comparable = drawing.draw(scene())
    assert len({plain, overridden, comparable}) == 3


def test_each_view_has_an_image_of_its_own(db):
    """Of the same trials: no view falls back on another."""
    workspace = make_workspace("views")
    for version in ("1", "2"):
        for workload in (HELLO, {**HELLO, "name": "json"}):
            cells = [
                CellSpec(server, connections=load, version=version, workload=workload,
                         rates=(load * rate, load * rate * 1.01, load * rate * 0.99),
                         error_rate=0.1, errors={"timeout": 100})
                for server, rate in (("sync", 1000.0), ("gthread", 1600.0)) for load in (1, 8)
            ]  # fmt: skip
            make_run(workspace, *cells)
    images = {}
    for view in VIEWS:
        asked = f"override=1&view={view}" + "&connections=8&x=version" * (view == "trend")
        made = freeze(
            CompareQuery.parse(asked),
            workspace=workspace,
            author=None,
            description=Description(title="T"),
        )
        figures = Reading(made, "viewer").document["figures"]
        # One address and one date: only what is drawn may differ.
        images[view] = drawing.draw(
            canonical_json({"figures": figures, "url": "http://x/s/1", "date": "frozen"})
        )
    assert len(set(images.values())) == len(VIEWS)


def test_the_ratios_are_drawn_as_numbers(db):
    """A ratio that differs makes another image, and so does one that is missing."""
    ratios = {
        "baseline": {"server": "sync", "label": "sync"},
        "rows": ["gthread", "sync"],
        "columns": ["hello", "json"],
    }
    images = set()
    for value in (1.5, 1.6, None):
        cell = {"value": value, "low": 1.4, "high": 1.7, "verdict": "improved", "why": None}
        cells = [[cell, None], [cell, cell]]
        document = orjson.loads(scene(query="view=ratios"))
        document["figures"]["ratios"] = {**ratios, "cells": cells}
        images.add(drawing.draw(canonical_json(document)))
    assert len(images) == 3


def test_a_long_link_makes_the_image_taller_instead_of_being_cut():
    document = orjson.loads(scene())
    document["url"] = f"http://x/w/lab/compare?{'server=a-rather-long-name&' * 40}"
    width, height = size_of(drawing.draw(canonical_json(document)))
    assert width == 1200
    assert height > 700


def test_the_image_of_a_view_is_drawn_once(lab, drawn):
    caches["process"].clear()
    query = CompareQuery.parse("workspace=lab")
    figures = compare(query, workspace_ids=[lab.pk])
    one = drawing.image_of_view(figures, "http://x/w/lab/compare", viewer="a")
    assert drawing.image_of_view(figures, "http://x/w/lab/compare", viewer="a") == one
    assert len(drawn) == 1
    assert b'"date":"newest run of 2026-03-02"' in drawn[0]
    answer = msgspec.structs.replace(figures.answer, sentence="Another.")
    other = msgspec.structs.replace(figures, answer=answer)
    assert drawing.image_of_view(other, "http://x/w/lab/compare", viewer="a") != one


def test_the_title_of_a_result_set_is_in_the_image():
    documents = [{**orjson.loads(scene()), "name": name} for name in ("", "My servers")]
    images = {drawing.draw(canonical_json(each)) for each in documents}
    assert len(images) == 2


def test_the_outcome_and_what_is_left_out_are_in_the_image():
    documents = [orjson.loads(scene(status=status)) for status in ("comparable", "caveats")]
    documents.append(orjson.loads(scene(status="caveats")))
    documents[-1]["figures"]["truncated"] = "Not everything is shown: 1 of 2 series are shown."
    documents.append(orjson.loads(scene(status="caveats")))
    documents[-1]["figures"]["outcome"]["reasons"] = ["more than 1 % of requests failed"]
    images = {drawing.draw(canonical_json(one)) for one in documents}
    assert len(images) == len(documents)


def test_each_name_is_drawn(lab):
    images = {drawing.draw(scene(name=name)) for name in ("sync", "gthread", "שלום")}
    assert len(images) == 3


def scene(name="sync", status="comparable", query=""):
    """A scene of one series, with `name` wherever a name can stand."""
    measure = {"value": 1000.0, "low": 950.0, "high": 1050.0, "each": [1000.0] * 3}
    point = {"x": 8, "cell": "c", "trials": 3, "overload": False, "checks": []}
    series = {"id": "aaaaaaaa", "label": name, "server": name, "slot": 0}
    figures = {
        "query": query,
        "finding": f"{name} serves more",
        "conditions": name,
        "outcome": {"status": status, "differing": [], "reasons": [name]},
        "x": {"field": "connections", "label": name, "values": [8]},
        "metric": "throughput",
        "metrics": [{"id": "throughput", "label": name, "unit": "req/s", "better": "higher"}],
        "series": [{**series, "points": [{**point, "metrics": {"throughput": measure}}]}],
        "ranking": None,
        "checks": [],
        "runs": [],
    }
    return canonical_json({"figures": figures, "url": "http://x/s/1", "date": "frozen"})


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_are_drawn_as_text(name):
    assert size_of(drawing.draw(scene(name))) == (1200, 630)


def test_a_hostile_name_changes_nothing_that_runs(lab):
    Server.objects.filter(workspace=lab, name="sync").update(name="$(touch /tmp/x)`id`;|")
    assert size_of(image_of(made(lab)))


def test_a_machine_without_node_says_so(lab, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(drawing.CannotDraw, match="Node is not installed"):
        image_of(made(lab))


def test_a_machine_without_the_canvas_says_so(lab, monkeypatch, tmp_path):
    # Away from its packages the program finds no canvas.
    program = tmp_path / "render.mjs"
    program.write_bytes(Path(drawing.PROGRAM).read_bytes())
    monkeypatch.setattr(drawing, "PROGRAM", program)
    with pytest.raises(drawing.CannotDraw, match="npm ci"):
        image_of(made(lab))


def test_a_program_that_fails_is_no_image(lab, monkeypatch, tmp_path):
    program = tmp_path / "render.mjs"
    program.write_text("process.exit(1)")
    monkeypatch.setattr(drawing, "PROGRAM", program)
    with pytest.raises(drawing.CannotDraw, match="the log has the details"):
        image_of(made(lab))
    assert not Drawing.objects.exists()


def test_drawing_has_a_limit(lab, monkeypatch, tmp_path):
    program = tmp_path / "render.mjs"
    program.write_text("for (;;) {}")
    monkeypatch.setattr(drawing, "PROGRAM", program)
    monkeypatch.setattr(drawing, "CLOCK_S", 0.5)
    with pytest.raises(drawing.CannotDraw, match="stopped"):
        image_of(made(lab))


def test_the_program_gets_no_secrets(monkeypatch, tmp_path):
    program = tmp_path / "render.mjs"
    program.write_text("process.stdout.write(Object.keys(process.env).sort().join(' '))")
    monkeypatch.setattr(drawing, "PROGRAM", program)
    monkeypatch.setenv("SECRET_KEY", "x")
    names = drawing.draw(b"{}").split()
    assert b"PATH" in names
    assert b"SECRET_KEY" not in names


def test_one_at_a_time(lab, monkeypatch):
    result_set = made(lab)
    refusals = (drawing.TooManyDrawings, drawing.BusyDrawing)
    slots = Slots(running=1, waiting=2, of_owner=2, patience_s=0.05, refusals=refusals)
    monkeypatch.setattr(drawing, "DRAWINGS", slots)
    # Slots belong to threads: another one draws meanwhile.
    drawn, is_held = threading.Event(), threading.Event()

    def draw():
        with slots.take("another viewer"):
            is_held.set()
            drawn.wait(60)

    thread = threading.Thread(target=draw)
    thread.start()
    is_held.wait(60)
    with pytest.raises(drawing.BusyDrawing):
        image_of(result_set)
    drawn.set()
    thread.join(60)
    assert image_of(result_set)


def test_a_private_one_is_drawn_too(lab):
    result_set = made(lab)
    assert result_set.visibility == Visibility.PRIVATE
    assert image_of(result_set)
