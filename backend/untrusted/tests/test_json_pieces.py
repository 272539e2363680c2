"""JSON that strangers sent is read in pieces: no call of a library works on much at once."""

import json
import re
import sys
from contextlib import suppress

import orjson
import pytest

from backend.ingest.envelope.envelope import read_envelope
from backend.ingest.envelope.envelope_errors import EnvelopeError
from backend.ingest.receiving import content_hash
from backend.runs.registry.identity import canonical_json
from backend.testing.reports import make_envelope
from backend.testing.worst_bodies import BODIES, HONEST
from backend.untrusted.json import json_pieces, plain_json
from backend.untrusted.json.json_pieces import (
    PIECE_BYTES,
    PieceDecoder,
    QuickEncoder,
    TooManyLevels,
    decode,
)
from backend.untrusted.json.json_refusals import JsonRefused
from backend.untrusted.json.plain_json import JSON_COMMAS, read_json
from backend.untrusted.sandbox.child import Limits
from backend.untrusted.secrets import cleaner
from backend.untrusted.secrets.clean_child import _answer

SIZE = 4 << 20
# What one call decodes however large it is: a text or number, whose cost is that of copying it.
FLAT = re.compile(rb"[^\[{]")


def read(raw):
    return read_json(raw, limit_bytes=SIZE, subject="The body")


@pytest.fixture
def calls(monkeypatch):
    """What was given to the decoder at once."""
    calls = []

    class Counting:
        def __init__(self, decoder):
            self._decoder = decoder

        def decode(self, raw):
            calls.append((len(raw), bytes(raw[:1])))
            return self._decoder.decode(raw)

    monkeypatch.setattr(json_pieces, "_DECODER", Counting(json_pieces._DECODER))
    return calls


@pytest.mark.long
@pytest.mark.parametrize("name", BODIES)
def test_no_list_or_object_above_a_piece_is_decoded_by_one_call(name, calls):
    raw = BODIES[name](SIZE)
    assert len(raw) <= SIZE
    with suppress(JsonRefused):
        read(raw)
    assert all(size <= PIECE_BYTES for size, first in calls if not FLAT.match(first))


@pytest.mark.parametrize("name", BODIES)
def test_a_body_that_is_read_in_pieces_has_the_value_of_the_whole(name):
    raw = BODIES[name](SIZE // 4)
    assert len(raw) > PIECE_BYTES
    try:
        value = read(raw)
    except JsonRefused:
        return
    assert value == json.loads(raw)
    assert json.dumps(value) == json.dumps(json.loads(raw))


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("names of one object", "10000 members"),
        ("names of one object within lists", "10000 members"),
        ("one name again and again", "10000 members"),
        ("zeros", "500000 commas"),
        ("lists of lists", None),
        ("whole numbers of 4,300 digits", "64 bits"),
    ],
)
def test_what_would_take_long_is_refused_before_it_is_decoded(name, limit, calls):
    raw = BODIES[name](SIZE)
    if limit is None:
        read(raw)
        return
    with pytest.raises(JsonRefused, match=limit):
        read(raw)
    assert sum(size for size, _ in calls) <= PIECE_BYTES


def test_no_whole_number_of_many_digits_is_converted():
    """1,000 numbers of 4,300 digits took 85 ms, in which no other thread ran."""
    assert sys.get_int_max_str_digits() == 640


def test_commas_of_an_honest_envelope_are_below_the_limit():
    assert BODIES[HONEST](SIZE).count(b",") < JSON_COMMAS * 3 / 4


def test_names_of_a_large_object_are_plain_texts():
    value = read(orjson.dumps({f"name {number}": "x" * 100 for number in range(9_000)}))
    assert {type(name) for name in value} == {str}


def test_blanks_around_a_body_do_not_have_it_decoded_as_a_whole(calls):
    raw = b" \n" + BODIES["names of objects of 5 members"](1 << 20) + b"\t\r\n"
    read(raw)
    assert max(size for size, _ in calls) <= PIECE_BYTES


def test_large_lists_below_the_last_level_are_refused():
    raw = b"[" * 60 + b'"' + b"x" * PIECE_BYTES + b'"' + b"]" * 60
    with pytest.raises(TooManyLevels):
        decode(raw, levels=50)
    with pytest.raises(JsonRefused, match="50 levels"):
        read(raw)


@pytest.mark.parametrize("name", BODIES)
def test_a_hash_made_in_pieces_is_that_of_the_whole(name, monkeypatch):
    monkeypatch.setattr(content_hash, "PIECE_BYTES", 2000)
    try:
        value = read(BODIES[name](100_000))
    except JsonRefused:
        return
    envelope = {"b": value, "a": {"é": [], "": {}, "n": None}}
    pieces = list(content_hash.canonical_pieces(envelope))
    assert b"".join(pieces) == canonical_json(envelope)
    longest = max(map(len, pieces))
    # Floats and texts may be longer in canonical JSON; one text is one piece.
    assert longest <= 6000 or "text" in name or name in {"one float", "floats of 800 digits"}


def test_a_column_is_written_and_read_as_by_the_library_of_python():
    envelope = make_envelope(
        3000, notes="é\\u0000 \u2028", n=[1, 1.0, -0.0, 1e16, 1e-7, True, None]
    )
    written = json.dumps(envelope, cls=QuickEncoder)
    assert len(written) > PIECE_BYTES
    assert json.loads(written) == envelope
    assert json.loads(written, cls=PieceDecoder) == envelope


def test_a_large_number_that_the_database_wrote_as_a_whole_one_is_read_and_written_again():
    written = "[1" + "0" * 308 + "]"
    (number,) = json.loads(written, cls=PieceDecoder)
    assert number == 10**308
    assert json.loads(json.dumps([number], cls=QuickEncoder)) == [number]


def test_what_is_no_json_raises_what_django_expects_of_a_decoder():
    with pytest.raises(json.JSONDecodeError):
        json.loads("no JSON", cls=PieceDecoder)


LIMITS = Limits(memory_bytes=1 << 30, cpu_s=10, output_bytes=1 << 20, decompressed_bytes=1 << 20)


def test_an_envelope_without_secrets_is_not_sent_back_by_the_child():
    assert orjson.loads(_answer({"json": {"a": ["plain"]}}, LIMITS)) == {"json": None}


def test_an_envelope_with_a_secret_comes_back_without_it(monkeypatch):
    sent = {"notes": "password=hunter2hunter2", "trials": [{"n": 1.5}]}
    monkeypatch.setattr(
        cleaner.Cleaner, "_ask", lambda self, asked: orjson.loads(_answer(asked, LIMITS))
    )
    cleaned = cleaner.Cleaner().clean_json(sent)
    assert "hunter2" not in json.dumps(cleaned)
    assert cleaned["trials"] == sent["trials"]
    plain = {"notes": "none"}
    assert cleaner.Cleaner().clean_json(plain) is plain


class Costly(list):
    """A list that nobody may write as a whole."""

    def __repr__(self):
        raise AssertionError("all of it was written")


def test_an_error_shows_the_beginning_of_what_it_got_and_writes_no_more_of_it():
    with pytest.raises(EnvelopeError, match=r"schema is \[\[\[.*…, expected 1"):
        read_envelope({"schema": [[[1] * 50] * 100] * 10_000})
    deep = [[[[[[[Costly(range(10))]]]]]]]
    with pytest.raises(EnvelopeError):
        read_envelope({"schema": deep})


def test_the_limits_stand_in_the_table():
    from backend.api.limits.limit_table import limits

    values = {row.name: row.value for row in limits()}
    assert values["json_commas"] == plain_json.JSON_COMMAS
    assert values["json_bytes"] < values["observation_bytes"] <= values["envelope_bytes"]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "nan", "1e", "0x1", "+1"])
@pytest.mark.parametrize("form", ["%s", "[%s]", '{"a": %s}'])
def test_what_is_no_number_of_json_is_refused(number, form):
    with pytest.raises(JsonRefused, match="is not JSON"):
        read((form % number).encode())


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1" + "0" * 400 + ".5", "1e309"])
@pytest.mark.parametrize("form", ["%s", "[%s]", '{"a": %s}'])
def test_a_number_that_no_float_holds_is_refused_and_is_not_infinite(number, form):
    """A float that is infinite would be written as null."""
    with pytest.raises(JsonRefused, match="out of range"):
        read((form % number).encode())


@pytest.mark.parametrize(
    "number", ["1e308", "-1.7976931348623157e308", "5e-324", "1e-999", "0.1", "-0.0", "1E5"]
)
def test_floats_are_read_as_python_reads_them(number):
    (value,) = read(f"[{number}]".encode())
    assert (value, str(value)) == (float(number), str(float(number)))


def test_python_reads_floats_for_the_decoder():
    """By itself the decoder takes 15 µs for one number near the ends of what a float holds."""
    assert json_pieces._DECODER.float_hook is json_pieces._finite


LONE = [r"\ud800", r"\uD83Dx", r"\udbff\u0041", r"\udc00", r"\\\ud800", r"\ud83d\ud83d\ude00"]


@pytest.mark.parametrize("text", LONE)
@pytest.mark.parametrize("form", ['["%s"]', '{"%s": 1}', '"%s"'])
@pytest.mark.parametrize("blanks", [0, PIECE_BYTES])
def test_half_of_a_surrogate_pair_is_named(text, form, blanks):
    raw = (form % text).replace('"', " " * blanks + '"', 1).encode()
    with pytest.raises(JsonRefused, match="half a surrogate pair"):
        read(raw)


@pytest.mark.parametrize("text", [r"\ud83d\ude00", r"\\ud800", r"\\\\ud800"])
def test_other_escapes_are_no_half_of_a_pair(text):
    assert read(f'["{text}"]'.encode()) == [json.loads(f'"{text}"')]
    with pytest.raises(JsonRefused, match="is not JSON"):
        read(f'["{text}'.encode())


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ({"a": [1, {"b": "x\0"}]}, "a.1.b"),
        ({"a": {"b": 1, "c\0": "\0"}}, "a"),
        ({"a": {"b": 1}, "c": ["\0"]}, "c.0"),
        ("\0", "request"),
        # Names of megabytes: a path for each of the values would be gigabytes.
        ({"a" * (1 << 20): {"b": 1, "c": {"d": "\0"}}}, f"{'a' * 99}….c.d"),
    ],
)
def test_a_nul_is_named_by_its_place(value, where):
    with pytest.raises(JsonRefused, match="no NUL") as refusal:
        read(json.dumps(value).encode())
    assert refusal.value.members["errors"][0]["field"] == where
