"""The badge: the right figure, well-formed whatever the names."""

from xml.etree import ElementTree

import pytest
from django.template.loader import render_to_string

from backend.analysis.compare.comparison import compare
from backend.analysis.query.compare_query import CompareQuery
from backend.runs.models import Trial
from backend.sharing.badge import NoSuchSeries, badge_of
from backend.sharing.text import plain
from backend.testing.figures import make_figures
from backend.testing.hostile_names import HOSTILE
from backend.testing.rows import CellSpec, make_run, make_workspace

METRIC = {"id": "throughput", "label": "Throughput", "unit": "req/s", "better": "higher"}
UNKNOWN = {"low": None, "high": None, "tier": None, "ratio": None}


def figures(*rows, status="comparable"):
    ranked = [
        {**UNKNOWN, "series": id_, "label": label, "value": value} for id_, label, value in rows
    ]
    return {
        "outcome": {"status": status, "differing": [], "reasons": []},
        "metrics": [METRIC],
        "ranking": {"x": 64, "metric": "throughput", "baseline": None, "rows": ranked},
    }


def make_badge(fields, series=None, title="T"):
    return badge_of(title, make_figures(**fields), series)


ROWS = (("aaaaaaaa", "fast", 52_310.0), ("bbbbbbbb", "slow", 810.0))


def test_the_first_one_ranked_or_the_asked_one():
    assert make_badge(figures(*ROWS)).sentence == "T: fast 52,300 req/s"
    assert make_badge(figures(*ROWS), "bbbbbbbb").sentence == "T: slow 810 req/s"
    with pytest.raises(NoSuchSeries, match="aaaaaaaa, bbbbbbbb"):
        make_badge(figures(*ROWS), "cccccccc")


def test_what_is_not_known_is_not_invented():
    assert make_badge(figures(("aaaaaaaa", "x", None))).value.text == "unknown"
    assert make_badge({**figures(), "ranking": None}).value.text == "unknown"
    withheld = {**figures(status="not_comparable"), "ranking": None}
    assert make_badge(withheld).value.text == "not comparable"


@pytest.mark.django_db
def test_a_latency_rounded_to_zero_is_below_the_step_of_the_tool():
    lab = make_workspace("lab")
    run = make_run(lab, CellSpec("fast", tool="ab"))
    Trial.objects.filter(run=run).update(
        percentiles_us={"50": 0.0}, latency_resolution_us=1_000.0, percentiles_origin="reported"
    )
    shown = compare(CompareQuery.parse("metric=p50"), workspace_ids=[lab.pk])
    assert badge_of("T", shown).sentence == "T: fast 23.0 < 1 ms"


@pytest.mark.django_db
def test_trials_that_differ_tenfold_have_their_range():
    lab = make_workspace("lab")
    make_run(lab, CellSpec("odd", rates=(1_000.0, 1_010.0, 50_000.0)))
    shown = compare(CompareQuery(), workspace_ids=[lab.pk])
    assert badge_of("T", shown).sentence == "T: odd 23.0 1,000 to 50,000 req/s"


def test_an_override_is_said_in_words():
    overridden = figures(*ROWS, status="not_comparable")
    overridden["outcome"]["overridden"] = True
    badge = make_badge(overridden)
    assert badge.sentence == "T: not comparable, ranked anyway: fast 52,300 req/s"
    svg = render_to_string("badge.svg", {"badge": badge})
    assert f"<title>{badge.sentence}</title>" in svg
    older = {**figures(*ROWS, status="not_comparable"), "query": "override=1"}
    assert make_badge(older).sentence == badge.sentence
    assert make_badge(figures(*ROWS)).value.text == "fast 52,300 req/s"


def panelled():
    """Panels that are not comparable, comparable by request, and comparable."""
    rows = {"none": [], "asked": [ROWS[1]], "like": [ROWS[0], ("dddddddd", "lost", None)]}
    panels = [
        {"value": value, "series": [], "finding": "", **figures(*rows[value], status=status)}
        for value, status in (
            ("none", "not_comparable"),
            ("asked", "not_comparable"),
            ("like", "caveats"),
        )
    ]
    panels[0]["ranking"] = None
    for panel in panels:
        panel["outcome"]["overridden"] = panel["value"] == "asked"
    whole = figures(status="not_comparable")
    return {**whole, "ranking": None, "panels": panels}


def test_panels_are_ranked_each_for_itself():
    assert make_badge(panelled()).value.text == (
        "not comparable, ranked anyway: asked: slow 810 req/s"
    )
    like = make_badge(panelled(), "aaaaaaaa")
    assert like.value.text == "like: fast 52,300 req/s"
    assert like.colour == make_badge(figures(status="caveats")).colour
    assert make_badge(panelled(), "dddddddd").value.text == "unknown"
    with pytest.raises(NoSuchSeries, match="ranked here are bbbbbbbb, aaaaaaaa, dddddddd"):
        make_badge(panelled(), "cccccccc")
    unranked = panelled()
    unranked["panels"] = unranked["panels"][:1]
    assert make_badge(unranked).value.text == "not comparable"


def test_its_colour_is_the_outcome():
    colours = {
        make_badge(figures(*ROWS, status=status)).colour
        for status in ("comparable", "caveats", "not_comparable")
    }
    assert len(colours) == 3


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_stay_text(name):
    badge = make_badge(figures(("aaaaaaaa", name, 1.0)), title=name)
    svg = render_to_string("badge.svg", {"badge": badge})
    tree = ElementTree.fromstring(svg)
    tags = {element.tag.partition("}")[2] for element in tree.iter()}
    assert tags == {"svg", "title", "rect", "g", "text"}
    allowed = {"width", "height", "viewBox", "role", "aria-label", "fill", "x", "y"}
    allowed |= {"font-family", "font-size", "text-anchor", "aria-hidden"}
    allowed |= {"textLength", "lengthAdjust"}
    assert {name for element in tree.iter() for name in element.attrib} <= allowed
    assert "<!" not in svg
    assert len(svg) < 6_000
    assert "\u202e" not in svg
    assert badge.width < 1_200


def test_plain_text_keeps_what_is_seen():
    assert plain("  a\tb\n c ", 20) == "a b c"
    assert plain("a\u202eb\x00c\u2028d", 20) == "a b c d"
    assert plain("שלום 🚀", 20) == "שלום 🚀"
    assert plain("abcdef", 4) == "abc…"
    assert len(plain("x" * 10_000, 40)) == 40
