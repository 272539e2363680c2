"""Mails, web pages and Markdown around an output change no figure, and a note says so."""

import html
import re
from dataclasses import replace

import pytest

from backend.formats import FormatError, RawArtefact, parse
from backend.formats.dress import LONGEST, undressed
from backend.formats.prefixes import plain_texts
from backend.formats.tests.test_captures import FORMATS
from backend.formats.tests.test_pasted import CLEAN, REPORTS, name_of

AB = (FORMATS / "ab/tests/captures/err500-c10/stdout").read_text()
WRK = (FORMATS / "wrk/tests/captures/latency-c10-10k/stdout").read_text()
HEY_CSV = (FORMATS / "hey/tests/captures/n1000-c10-csv/stdout").read_text()


def bold(text):
    """As people mark figures: "Requests/sec: **5,730.12**"."""
    return re.sub(r"(?<=[:\s])(\d[\d.]*(?:ms|us|s|%)?)(?=\s*$)", r"**\1**", text, flags=re.M)


def as_table(text):
    rows = [f"| {line.strip()} | |" for line in text.splitlines() if line.strip()]
    return "\n".join(["| Result | |", "|---|:--:|", *rows, ""])


DRESSES = {
    "HTML-escaped": lambda text: html.escape(text, quote=True),
    "in <pre>": lambda text: f"<pre><code>{html.escape(text)}</code></pre>\n",
    "in <pre>, quotes as they are": lambda text: f"<pre>\n{html.escape(text, quote=False)}</pre>\n",
    "lines that end in <br>": lambda text: html.escape(text).replace("\n", "<br>\n"),
    "quoted in a mail": lambda text: "Hi,\n\n" + re.sub("(?m)^", "> ", text),
    "quoted twice": lambda text: re.sub("(?m)^", ">> ", text),
    "quoted on a page": lambda text: html.escape(re.sub("(?m)^", "> ", text)),
    "in one line of a fence": lambda text: f"```{text.rstrip()}```\n",
}


def read(text, name="file"):
    """Each run's figures; None where there are none."""
    try:
        entries = parse([RawArtefact.of(name, text.encode())])
    except FormatError:
        return [None]
    return [
        None
        if isinstance(entry, FormatError)
        else replace(entry, notes=(), command="", lines=None).as_dict()
        for entry in entries
    ]


def notes(text):
    (plain,) = plain_texts(RawArtefact.of("file", text.encode()))
    return plain.notes


@pytest.mark.long
@pytest.mark.parametrize("path", REPORTS, ids=name_of)
def test_a_dressed_report_says_the_same(path):
    text = path.read_text()
    if not text.strip() or text.startswith("\ufeff"):
        return
    clean = read(text + "\n" * (not text.endswith("\n")))
    for how, dress in DRESSES.items():
        assert read(dress(text)) == clean, how


@pytest.mark.parametrize("how", DRESSES)
def test_a_removal_is_said(how):
    (trial,) = parse([RawArtefact.of("file", DRESSES[how](AB).encode())])
    assert trial.notes
    assert replace(trial, notes=()).as_dict() == read(AB)[0]


@pytest.mark.parametrize("dress", [bold, as_table])
def test_marks_around_figures_are_no_part_of_them(dress):
    (trial,) = parse([RawArtefact.of("file", dress(WRK).encode())])
    assert trial.notes
    assert replace(trial, notes=()).as_dict() == read(WRK)[0]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Requests/sec: **5,730.12**\n", "Requests/sec: 5,730.12\n"),
        ("**Requests/sec:** `5730.12` *1.2 ms* __99%__\n", "Requests/sec: 5730.12 1.2 ms 99%\n"),
        ("| **99%** | 12.3ms |\n|---|---|\n| 50% | 1ms |\n", "  99%   12.3ms \n\n  50%   1ms \n"),
        ("Label | Value\n--- | :---:\nMean: | 3 ms\n", "Label Value\n\nMean: 3 ms\n"),
        ("&lt;b&gt; &amp; &#x27;c&#39; &quot;d&quot;\n", "<b> & 'c' \"d\"\n"),
        ("<pre>Version 2.3 <$Revision$> &lt;ms&gt;\n</pre>\n", "Version 2.3 <$Revision$> <ms>\n\n"),
        ("a<br>b<br/>c\n", "a\rb\rc\n"),
        ("<li><b>Mean:</b> 3</li>\n", "  Mean: 3 \n"),
    ],
)
def test_dress_is_taken_off(text, plain):
    assert undressed(text.encode())[0].decode().split() == plain.split()
    assert undressed(text.encode())[0].count(b"\n") == text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        '{"url": "http://host/?a=1&amp;b=2", "text": "&quot;**bold**&quot; <br>"}\n',
        '{"error": "HTTPError(&#x27;500 Server Error&#x27;)", "name": "a &amp; b"}\n',
        'timeStamp,elapsed,label\n1,2,"<p>&quot;x&quot;</p>, a"\n3,4,"b"\n',
        "<?xml version='1.0'?>\n<testResults>\n<sample lb='a &lt;b>'/>\n</testResults>\n",
        "** SIEGE 4.1.6\n** Preparing 10 concurrent users for battle.\n",
        "---- Global Information ---\n> request count  3\n> min  1\n> max  2\n> mean  2\n",
        "# range, mid point, percentile, count\n>= 0.1 <= 1 , 1\n> 1 <= 2 , 1\n> 2 <= 3 , 1\n",
        "a > b\nc | d\n|x\n",
        "Type | Name\n-----|-----\nGET  | /\n",
        "+-----+-----+\n|  0  |  1  |\n+-----+-----+\n",
        "```\nfenced\n```\n",
    ],
)
def test_what_a_tool_wrote_itself_stays(text):
    assert undressed(text.encode()) == (text.encode(), ())


@pytest.mark.parametrize("path", CLEAN, ids=name_of)
def test_no_tool_prints_dress_but_ab_where_it_is_asked_to(path):
    assert bool(notes_of(path)) == (path.parent.name == "html-w-c10")


def notes_of(path):
    return [
        note for text in plain_texts(RawArtefact.of("x", path.read_bytes())) for note in text.notes
    ]


def test_rows_are_undressed_too():
    """Not only lines for people: a CSV that was quoted or escaped is read as it was."""
    (clean,) = read(HEY_CSV)
    for how in ("quoted in a mail", "HTML-escaped", "in <pre>"):
        assert read(DRESSES[how](HEY_CSV)) == [clean], how


@pytest.mark.parametrize("piece", ["> ", "**", "<br>", "<", "&amp;", "|", "`1", "|-|\n", "```"])
def test_the_time_grows_with_the_bytes_alone(piece):
    """At once: a text of megabytes that dressed itself would take minutes, a mark at a time."""
    text = (piece * (LONGEST // len(piece))).encode()
    assert len(undressed(text)[0]) <= len(text) + text.count(b"```")


def test_a_log_longer_than_any_mail_is_no_dressed_text():
    assert notes("> x\n" * (LONGEST // 4)) == ("The quote marks of a mail were removed.",)
    assert notes("> x\n" * (LONGEST // 4 + 1)) == ()
