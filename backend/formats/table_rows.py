"""The lines above and below a table that belong to it: damaged rows.

The tool must refuse a table with damaged rows. It must not read the sound rows as the whole table.
"""

from collections.abc import Sequence

from backend.formats.blocks import TABLE
from backend.formats.commands import is_border
from backend.formats.parts import TEXT, Part, is_known_alike, is_start
from backend.formats.surroundings import regions_around
from backend.formats.tables import SEPARATORS, are_heads_alike
from backend.formats.text_parts import TextParts


def with_all_rows(text: TextParts, parts: Sequence[Part]) -> list[Part]:
    """Parts of which each table has the lines of it."""
    whole: list[Part] = []
    for part in parts:
        pair = _joined(text, whole[-1], part) if whole else None
        if pair is None:
            whole.append(part)
        else:
            whole[-1:] = pair
    return whole


def _joined(text: TextParts, before: Part, part: Part) -> list[Part] | None:
    """What the two are where one is a table with lines of the other; None where neither is."""
    if before.kind == TABLE and before.tool:
        end = _end_of_rows(text, before, part)
        if end is not None:
            rest = [] if text.is_blank(end + 1, part.last) else [(end + 1, part.last, part.kind)]
            return [text.part(*lines) for lines in [(before.first, end, TABLE), *rest]]
    start = _start_of_rows(text, before, part)
    if start is None:
        return None
    is_all = text.is_blank(before.first, start - 1)
    rest = [] if is_all else [(before.first, start - 1, before.kind)]
    return [text.part(*lines) for lines in [*rest, (start, part.last, TABLE)]]


def _start_of_rows(text: TextParts, before: Part, table: Part) -> int | None:
    """The first line of damaged rows right above a table without a head; None for none."""
    start = table.first
    if table.kind != TABLE or not table.tool or before.claims or before.kind != TEXT:
        return None
    if not text.row(start)[:1].isdigit():
        return None
    while start > before.first and text.row(start - 1)[:1].isdigit():
        start -= 1
    return start if start < table.first else None


def _end_of_rows(text: TextParts, table: Part, following: Part) -> int | None:
    """The last line of what follows a table without a gap; None if that is something else."""
    heads = text.row(table.first).strip(), text.row(following.first).strip()
    is_next = heads[0] == heads[1] or any(are_heads_alike(*heads, mark) for mark in SEPARATORS)
    if following.first != table.last + 1 or is_next or _is_other(table, following):
        return None
    if following.kind == TABLE:
        return following.last if _is_as_wide(text, table, following) else None
    if following.kind != TEXT or not _may_be_rows(table, following):
        return None
    return _end_of_paragraph(text, following)


def _end_of_paragraph(text: TextParts, part: Part) -> int | None:
    """The last line before a blank one, a fence or a prompt; None where the part begins so."""
    numbers = range(part.first, part.last + 1)
    borders = (at for at in numbers if is_border(text.row(at).strip()))
    end = next(borders, part.last + 1) - 1
    return end if end >= part.first else None


def _is_other(table: Part, following: Part) -> bool:
    return bool(following.claims) and following.tool != table.tool


def _may_be_rows(table: Part, following: Part) -> bool:
    """Whether a text right below a table may be rows of it, with damage among them."""
    if table.tool is None or is_start(table.tool, following):
        return False
    return not following.claims or is_known_alike(following, table)


def _is_as_wide(text: TextParts, table: Part, following: Part) -> bool:
    rows = (text.row(table.last), text.row(following.first))
    above, below = ([row.count(mark) for mark in SEPARATORS] for row in rows)
    return any(ours == theirs > 0 for ours, theirs in zip(above, below, strict=True))


def with_leads_apart(text: TextParts, parts: Sequence[Part]) -> list[Part]:
    """Parts of which each text behind a table begins with its own run: what stands above the run
    may be of the table."""
    apart: list[Part] = []
    for part in parts:
        is_behind = bool(apart) and apart[-1].kind == TABLE and part.kind == TEXT
        end = _end_of_lead(part) if is_behind and part.tool else None
        if end is None:
            apart.append(part)
        else:
            apart += [text.part(part.first, end), text.part(end + 1, part.last)]
    return apart


def _end_of_lead(part: Part) -> int | None:
    """The last line above the first run of a text, where its tool needs none of them."""
    region = next(regions_around(part), None)
    if region is None or not region.is_above:
        return None
    last = region.lines[-1].number
    return last if region.is_needless(part.first, last) else None
