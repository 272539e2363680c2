"""Email addresses that people give: the one check of them all.

Django's own takes letters in the domain that no mail can be sent to, and characters that nobody
sees. What it took was stored, and sending the mail failed then.
"""

import re
import stringprep

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from backend.visible_text import MARK

SHOWN = 80
# As many as the columns have; Django's check lets 320 pass.
MOST_CHARACTERS = 254
# What a domain is written with in a mail. Some letters become an “@” or a comma there, so that the
# mail would go to somebody else.
_HOST = re.compile(r"[a-z0-9._-]+|\[[a-f0-9:.]+\]", re.ASCII | re.IGNORECASE)


def what_is_wrong(address: str) -> str:
    """What was got, what is expected and what to do, in sentences; empty for a good address."""
    got = "".join(MARK if _is_unseen(mark) else mark for mark in address)
    got = f"The email address is “{got[:SHOWN]}”"
    if any(map(_is_unseen, address)):
        return (
            f"{got}, with characters that nobody sees; expected name@example.org. Type it instead "
            "of pasting it."
        )
    if len(address) > MOST_CHARACTERS:
        return (
            f"{got} …, with {len(address):,} characters; expected name@example.org with at most "
            f"{MOST_CHARACTERS}. Give another one."
        )
    if not _has_form(address):
        return f"{got}; expected name@example.org. Correct it."
    if not is_mailable(address):
        return (
            f"{got}, to which no mail can be sent; expected name@example.org. Check every letter "
            "of it."
        )
    return ""


def is_mailable(address: str) -> bool:
    """Whether a mail can have the address: its domain may lack what only the internet asks of it.

    So an operator may name a mail server of their own network.
    """
    name, _, domain = address.rpartition("@")
    is_plain = bool(name) and name.isascii() and not any(map(_is_unseen, address))
    return is_plain and _HOST.fullmatch(_encoded(domain)) is not None


def validate_address(address: str) -> None:
    """A validator of Django. Raises ValidationError."""
    if wrong := what_is_wrong(address):
        raise ValidationError(wrong, code="invalid")


def _has_form(address: str) -> bool:
    try:
        validate_email(address)
    except ValidationError:
        return False
    return True


def _encoded(domain: str) -> str:
    """As it stands in a mail; empty where it cannot."""
    try:
        return domain.encode("idna").decode("ascii")
    except UnicodeError:
        return ""


def _is_unseen(mark: str) -> bool:
    """Whether nobody sees it; more than `visible_text` marks: IDNA leaves out some of these, so
    that one address could be written in many ways.
    """
    return not mark.isprintable() or stringprep.in_table_b1(mark)
