import pytest

from backend.formats import RawArtefact
from backend.formats.numbers import (
    all_by_name,
    all_known,
    parse_count,
    parse_duration_s,
    parse_duration_us,
    parse_number,
    step_us,
)
from backend.formats.text import MOST_BLANKS, Source, clean_lines, is_prompt
from backend.formats.transport_errors import counted_classes, error_class, is_whole_error


@pytest.mark.parametrize(
    ("word", "us"),
    [
        ("29.839ms", 29839.0),
        ("1m2.5s", 62.5e6),
        ("1h0m0s", 3600e6),
        ("0s", 0.0),
        ("1.12µs", 1.12),
        ("800ns", 0.8),
        ("+Inf", None),
        ("12", None),
        ("3ms2", None),
        ("1.2.3s", None),
        ("2562047h47m16.854775807s", 9223372036854775.8),
        ("1ms" * 11, None),
        ("", None),
        ("250\u00b5s", 250.0),
        ("250\u03bcs", 250.0),
        ("250us", 250.0),
        ("1m30.5s", 90.5e6),
        ("1h2m", 3720e6),
        ("1,234.5ms", 1234500.0),
        ("3 ms", 3000.0),
        ("1.02 secs", 1.02e6),
        ("12,5ms", None),
        ("-3ms", None),
        ("3 parsecs", None),
    ],
)
def test_a_duration_is_read_whole_or_not_at_all(word, us):
    assert parse_duration_us(word) == us


@pytest.mark.parametrize(
    ("word", "us"),
    [
        ("27.92ms", 10.0),
        ("1.5s", 1e5),
        ("800us", 1.0),
        ("800.5\u00b5s", 1.0),
        ("1m30.5s", 1e5),
        ("fast", None),
        ("0.ms.", None),
        (f"0.{'7' * 400}ms", None),
    ],
)
def test_a_printed_time_has_a_step_where_it_is_a_number(word, us):
    assert step_us(word) == us


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('Get "http://host/dial": EOF', "read"),
        ("Get http://host/: dial tcp 127.0.0.1:80: connect: connection refused", "connect"),
        ("dial tcp 10.0.0.1:80: i/o timeout", "timeout"),
        ('Get "http://host/": context deadline exceeded (Client.Timeout exceeded)', "timeout"),
        ("read tcp 127.0.0.1:1->127.0.0.1:2: read: connection reset by peer", "read"),
        ("write tcp 127.0.0.1:1->127.0.0.1:2: write: broken pipe", "write"),
        ("x509: certificate signed by unknown authority", "other"),
    ],
)
def test_a_free_error_text_has_a_class(text, name):
    assert error_class(text) == name
    assert counted_classes({text: 3})[name] == 3


@pytest.mark.parametrize(
    ("line", "prompt"),
    [
        ("user@host:~$", True),
        ("$ vegeta report", True),
        ("[root@host ~]# hey x", True),
        ("```", True),
        ("500 Internal Server Error", False),
        ('Get "http://host/": EOF', False),
    ],
)
def test_a_prompt_is_told_from_an_error(line, prompt):
    assert is_prompt(line) is prompt


def test_an_error_that_may_have_lost_its_end_is_not_whole():
    text = "dial tcp 127.0.0.1:80: connect: connection refused"
    assert is_whole_error(text)
    assert not is_whole_error(text[:-1])


@pytest.mark.parametrize(
    ("word", "value"),
    [("1,234", 1234.0), ("1,234,567.5", 1234567.5), ("880.67", 880.67), ("12345", 12345.0)],
)
def test_commas_between_groups_of_three_are_thousands(word, value):
    assert parse_number(word) == value


@pytest.mark.parametrize("word", ["0,620", "12,5", "1,23", "1234,567", "1,234.5,6", ",", "", "1_0"])
def test_any_other_comma_makes_no_number(word):
    assert parse_number(word) is None
    assert parse_count(word) is None


@pytest.mark.parametrize("mark", ["\u00a0", "\u202f", "\u2009", "'", "\u2019"])
def test_localised_separators_of_thousands_become_commas(mark):
    (line,) = clean_lines(f"Complete requests: 1{mark}000{mark}000")
    assert line.words[-1] == "1,000,000"


@pytest.mark.parametrize(
    "text",
    ["Total:\u00a0\u00a0\u00a0500\u00a0123", "50%\u00a01\u00a0234", "0\u00a0123", "1\u00a023"],
)
def test_a_space_that_may_stand_between_columns_stays(text):
    (line,) = clean_lines(text)
    assert "," not in line.text


def test_figures_are_known_together_or_not_at_all():
    assert all_known(map(parse_count, ("3", "0"))) == [3, 0]
    assert all_known(map(parse_count, ("3", "x"))) is None
    assert all_by_name({"p50": 1.5}) == {"p50": 1.5}
    assert all_by_name({"p50": 1.5, "p99": None}) is None
    assert (parse_duration_s("1m2.5s"), parse_duration_s("12")) == (62.5, None)


def test_objects_are_told_by_all_of_their_keys():
    source = Source(RawArtefact.of("file", b'[{"a": 1}]\n{"a": 1, "b": 2}\n{"a": 3}\n{"b": '))
    assert [document.value for document in source.objects(("a", "b"))] == [{"a": 1, "b": 2}]
    assert source.objects(("a", "c")) == []


def test_a_line_refuses_by_its_number_and_text():
    refused = clean_lines("first\nsecond")[1].refusal("It is cut off.", expected="a third line")
    assert str(refused) == "It is cut off. Line 2. Found: 'second'. Expected: a third line."


def test_a_prompt_in_brackets_begins_no_document():
    text = '[root@host ~]# load\n{"a": 1}\n[root@host ~]# load again\n[1, 2]\n'
    documents = Source(RawArtefact.of("file", text.encode())).documents
    assert [document.value for document in documents] == [{"a": 1}, [1, 2]]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_blank_lines_without_an_end_are_cut_and_the_numbers_stay(end):
    text = "first\n" + end * (5 * MOST_BLANKS) + "\nlast"
    lines = clean_lines(text)
    assert [line.text for line in lines if line.text] == ["first", "last"]
    assert len(lines) == MOST_BLANKS + 2
    assert lines[-1].number == text.replace("\r\n", "\n").count("\n") + 1
