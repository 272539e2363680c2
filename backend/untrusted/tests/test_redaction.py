"""The scan for secrets: linear in the worst text of each rule, the same wherever it is cut."""

import re
import string
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.testing.worst_texts import WORST_TEXTS, worst_text
from backend.untrusted.secrets import redaction
from backend.untrusted.secrets.redaction import HEAD, HEAD_BYTES, HELD_BYTES, MARK, Redactor

SIZE = 512 << 10


def work_of(name, size):
    scan = Redactor().scan()
    text = worst_text(name, size)
    for begin in range(0, size, redaction.BLOCK_BYTES):
        scan.feed(text[begin : begin + redaction.BLOCK_BYTES])
    scan.end()
    return scan.looked_at


@pytest.mark.long
@pytest.mark.parametrize("name", WORST_TEXTS)
def test_each_byte_of_the_worst_text_is_looked_at_about_once(name):
    """Heads and values alike: the windows overlap by a quarter, a cut stream by an eighth."""
    assert work_of(name, SIZE) <= 2 * SIZE
    assert work_of(name, 2 * SIZE) <= 2.2 * work_of(name, SIZE) + HELD_BYTES


def test_each_way_to_find_a_secret_has_a_worst_text():
    texts = [(text * 2).lower() + b":" for text in WORST_TEXTS.values()]
    kinds = {head.lastgroup for text in texts for head in HEAD.finditer(text)}
    assert kinds == set(HEAD.groupindex)


PATTERNS = (HEAD, redaction.SHAPE, redaction.NEXT_KEY, redaction.KEY_BODY, redaction.REDACTED)


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.pattern[:20].decode())
def test_no_pattern_can_look_further_than_the_length_of_a_head(pattern):
    """A try that fails has looked at few bytes: no repetition is without an end."""
    source = pattern.pattern.decode()
    outside_classes = re.sub(r"\[[^\]]*\]", "c", source.replace(r"\[", "b").replace(r"\]", "b"))
    assert not re.search(r"(?<!\\)[*+]|,\}", outside_classes)


def test_a_head_fits_into_what_is_held_back():
    assert HEAD_BYTES < redaction.WINDOW_BYTES
    assert HEAD_BYTES + redaction.KEY_BYTES <= HELD_BYTES < redaction.BLOCK_BYTES


SECRETS = st.text(string.ascii_letters, min_size=12, max_size=60).map(lambda text: f"S{text}z")
PLACES = st.sampled_from(
    (
        'x {{"password": "{}", "n": 17}} y',
        '{{\\"api_key\\":\\"{}\\"}} 5.5',
        '{{"headers":{{"Set-Cookie":["a=b","{}"]}},"count":17}}',
        'secret = "{}" # 5',
        "GET http://h/?n=5&access_token={}&page=2 7",
        "Authorization: Bearer {}\n0.5 ms",
        "http://joe:{}@127.0.0.1:80/ 503",
        "ab -A joe:{} -c 8",
        "1 ghp_01234567890123456789{} 2",
        "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
        '"password":\n  "{}"\n',
    )
)
NOISE = st.text("abc 0123.,=:\"'\n", max_size=200)


@pytest.mark.long
@given(secret=SECRETS, place=PLACES, before=NOISE, after=NOISE, data=st.data())
def test_a_secret_is_found_wherever_the_stream_is_cut(secret, place, before, after, data):
    filling = data.draw(st.sampled_from(("", "0.123\t200\n" * 4000, "token 5\n" * 5000)))
    text = f"{filling}{before}\n{place.format(secret)}\n{after}{filling}".encode()
    begin = len(filling) + len(before)
    cuts = data.draw(st.lists(st.integers(begin, begin + len(place) + 80), max_size=5))
    cuts = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    scan = Redactor().scan()
    kept = b"".join(scan.feed(text[a:b]) for a, b in pairwise(cuts))
    kept += scan.end()
    assert secret.encode() not in kept
    assert MARK.encode() in kept
    assert kept == Redactor().text(text.decode()).encode()
    assert Redactor().scan().end(kept) == kept, "what one has redacted the other leaves"


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=4))
def test_bytes_without_a_sign_come_out_as_they_went_in(data, cuts):
    cuts = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    scan = Redactor(["never-there"]).scan()
    kept = b"".join(scan.feed(data[a:b]) for a, b in pairwise(cuts))
    kept += scan.end()
    assert kept == data or scan.masked


def test_a_value_longer_than_a_block_is_taken_out_whole():
    text = b'{"token": "' + b'ab\\" ' * (redaction.BLOCK_BYTES // 4) + b'", "n": 17}'
    scan = Redactor().scan()
    kept = b"".join(scan.feed(text[at : at + 1000]) for at in range(0, len(text), 1000))
    assert kept + scan.end() == b'{"token": "[redacted]", "n": 17}'
