"""Notes: Markdown in, harmless HTML out."""

import pytest

from backend.sharing.text import MAX_LENGTH, html_of


def test_markdown_is_rendered():
    html = html_of("# Why\n\nSee *this* and **that**: `wrk -c64`.\n\n1. one\n2. two\n\n- a")
    assert "<h3>Why</h3>" in html
    assert "<em>this</em>" in html
    assert "<code>wrk -c64</code>" in html
    assert html.count("<li>") == 3


def test_a_table():
    assert "<td>1</td>" in html_of("| a | b |\n|---|---|\n| 1 | 2 |")


def test_links_lead_out_without_telling_from_where():
    html = html_of("[paper](https://example.org/a)")
    assert 'href="https://example.org/a"' in html
    assert 'rel="nofollow noopener noreferrer"' in html


@pytest.mark.parametrize(
    "evil",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "[x](vbscript:x)",
        "![x](https://example.org/track.png)",
        "<iframe src=https://example.org></iframe>",
        '[x](https://example.org "onmouseover=alert(1) \\" onmouseover=\\"alert(1)")',
        "<a href='javascript:alert(1)'>x</a>",
        "<style>*{display:none}</style>",
        "<svg/onload=alert(1)>",
        "</main></body><form action=https://example.org><input name=password>",
        "`</code><script>alert(1)</script>`",
        "<math><mtext></p><style><img src onerror=alert(1)>",
        "[x]: javascript:alert(1)\n\n[x]",
    ],
)
def test_nothing_runs_and_nothing_is_fetched(evil):
    html = html_of(evil).lower()
    for tag in ("<script", "<img", "<iframe", "<style", "<svg", "<form", "<input", "<math"):
        assert tag not in html
    assert 'href="javascript' not in html
    assert 'href="data' not in html
    assert 'href="vbscript' not in html
    assert ' onmouseover="' not in html
    assert ' onerror="' not in html


def test_the_work_is_bounded():
    assert len(html_of("a" * (MAX_LENGTH + 5))) < MAX_LENGTH + 20
    html_of("[" * MAX_LENGTH)
    html_of("> " * MAX_LENGTH)
    html_of("*a_" * (MAX_LENGTH // 3))


def test_a_table_of_too_many_cells_stays_text():
    """4,700 lines of one bar below a head of 90 columns were 670 KB and took 0.7 s a page."""
    head = "|a" * 90 + "\n" + "|-" * 90 + "\n"
    assert "<td>" in html_of(head + "|x\n" * 20)
    html = html_of(head + "|\n" * 4_700)
    assert "<td>" not in html
    assert len(html) < 2 * MAX_LENGTH
