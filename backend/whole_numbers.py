"""Whole numbers that strangers write."""

# Python refuses to read thousands of digits, and leading zeros pass a check of the first digits.
MAX_DIGITS = 9


def whole_number(text: str, bounds: range) -> int | None:
    """The number that `text` gives in ASCII digits; None for anything else or out of bounds."""
    if not (text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS):
        return None
    number = int(text)
    return number if number in bounds else None
