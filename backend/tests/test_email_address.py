"""Which addresses are accepted: those to which a mail can be sent."""

import pytest
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.core.validators import validate_email

from backend.email_address import (
    MOST_CHARACTERS,
    is_mailable,
    validate_address,
    what_is_wrong,
)
from backend.visible_text import UNSEEN, visible

GOOD = [
    *("ada@example.org", "Ada+bench@EXAMPLE.org", "o'neil@a-b.example", "ada@localhost"),
    *("ada@münchen.example", "ada@пример.рф", "ada@例え.jp", "ada@שלום.co.il"),
    *("ada@xn--mnchen-3ya.example", "ada@[192.0.2.1]", "ada@[2001:db8::1]"),
]
# Django accepts each of them.
UNMAILABLE = {
    "a label that IDNA leaves empty": "x@a.\u200d.org",
    "a separator of lines": "a@example.org\u2028x",
    "a character that IDNA leaves out": "x@exa\u00admple.org",
    "a character that turns text": "x@a\u202eb.org",
    "text in both directions": "x@a\u05d0b.org",
    "private use": "x@a\ue000.org",
    "a label that is too long when encoded": f"x@{'ü' * 63}.org",
    "what becomes another at": "x@a\uff20evil.org",
    "what becomes a comma": "x@a\uff0cb.org",
    "what becomes a slash": "x@a\u2100.org",
    "a letter beside ASCII in the name": "\u0131@example.org",
    "a control character in quotes": '"\x1b"@example.org',
}
# Of the last, only the columns have too few characters.
NOT_TAKEN = {**UNMAILABLE, "more than a column takes": f"{'x' * 200}@{'a' * 60}.org"}
NO_ADDRESSES = ["nobody", "", "@example.org", "a@", "a b@example.org", "a\0@example.org"]


@pytest.mark.parametrize("address", GOOD)
def test_an_address_that_a_mail_can_have_is_accepted(address):
    assert what_is_wrong(address) == ""
    validate_address(address)
    sent = EmailMessage("s", "b", "from@example.org", [address]).message()
    assert sent["To"].isascii()


@pytest.mark.parametrize("address", NOT_TAKEN.values(), ids=NOT_TAKEN)
def test_what_django_takes_and_no_mail_can_have_is_refused(address):
    validate_email(address)
    with pytest.raises(ValidationError) as refused:
        validate_address(address)
    (sentence,) = refused.value.messages
    assert "The email address is “" in sentence
    assert "expected name@example.org" in sentence
    assert visible(sentence) == sentence
    assert len(sentence) < 300


@pytest.mark.parametrize("address", NO_ADDRESSES)
def test_what_is_no_address_is_refused(address):
    assert "expected name@example.org" in what_is_wrong(address)


def test_no_character_that_is_hidden_elsewhere_is_accepted():
    ranges = "".join(UNSEEN).split("-")
    marks = {*"".join(ranges), "\u200b", "\u2060", "\u034f", "\ufe0f", "\u00a0", "\u3000"}
    for mark in marks:
        assert "nobody sees" in what_is_wrong(f"a@b{mark}c.example.org"), hex(ord(mark))


def test_what_was_got_is_shown_with_marks_and_cut():
    assert "“x@a.\N{REPLACEMENT CHARACTER}.org”" in what_is_wrong("x@a.\u200d.org")
    assert f"with 1,012 characters; expected name@example.org with at most {MOST_CHARACTERS}" in (
        what_is_wrong(f"{'x' * 1000}@example.org")
    )


@pytest.mark.parametrize("address", ["root@mailhost", "loadsheet@localhost", *GOOD])
def test_an_operator_may_name_a_host_of_their_own_network(address):
    assert is_mailable(address)


@pytest.mark.parametrize("address", [*UNMAILABLE.values(), "nobody", "@example.org", "a@", ""])
def test_what_no_mail_can_have_is_mailable_nowhere(address):
    assert not is_mailable(address)
