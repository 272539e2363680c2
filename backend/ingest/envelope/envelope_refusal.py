"""What an envelope is refused with."""

from reprlib import Repr

from backend.untrusted.json.json_refusals import JsonRefused

# Only the beginning is shown: writing all of a large list would keep other threads waiting.
_QUOTE = Repr()
_QUOTE.maxlevel, _QUOTE.maxlist, _QUOTE.maxdict, _QUOTE.maxstring = 6, 40, 40, 100


class EnvelopeError(JsonRefused):
    """The envelope is not as agreed: says where, what was got and what was expected."""

    def __init__(self, where: str, got: object, expected: str) -> None:
        shown = _QUOTE.repr(got)
        shown = shown if len(shown) <= 80 else shown[:77] + "…"
        super().__init__(f"envelope: {where} is {shown}, expected {expected}.")
        self.where = where
