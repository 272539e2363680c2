"""JSON documents and tables that no tool claims: whether a report around them needs them."""

from collections.abc import Sequence

from backend.formats.blocks import JSON
from backend.formats.parts import TEXT, Part, is_start, says_more, trials_in
from backend.formats.text_parts import TextParts

# Looking for what belongs to a report reads it again and again: in a longer text, and for more
# blocks, everything belongs to it.
LONGEST, MOST_BLOCKS = 256 << 10, 20


def with_reports_whole(text: TextParts, parts: Sequence[Part]) -> list[Part]:
    """Parts of which those that no tool claims are in the texts that need them."""
    whole: list[Part] = []
    run: list[Part] = []
    for part in parts:
        if part.kind == TEXT or not part.claims:
            run.append(part)
            continue
        whole += [*_settled(text, run), part]
        run = []
    return whole + _settled(text, run)


def _settled(text: TextParts, run: Sequence[Part]) -> list[Part]:
    """Texts and blocks that no tool claims: blocks that change nothing are on their own."""
    if len(run) < 2:
        return list(run)
    joint = text.part(run[0].first, run[-1].last)
    blocks = [at for at, part in enumerate(run) if part.kind != TEXT]
    if len(joint.source.text) > LONGEST or len(blocks) > MOST_BLOCKS:
        return [joint] if joint.claims else list(run)
    for at in blocks:
        if not _is_inside(text, run, at, joint):
            return _beside(text, run, at)
    return [joint]


def _is_inside(text: TextParts, run: Sequence[Part], at: int, joint: Part) -> bool:
    """Whether the report says more with the block than the texts above and below it say."""
    around = [part for part in (run[:at], run[at + 1 :]) if part]
    sides = [text.part(side[0].first, side[-1].last) for side in around]
    if _are_of_two_tools(sides):
        return False
    apart = [entry for side in sides for entry in side.entries]
    if not trials_in(apart) and _is_of_refused(run[at], run[:at], joint):
        return True
    return says_more(joint.entries, apart)


def _are_of_two_tools(sides: Sequence[Part]) -> bool:
    """Whether the texts above and below a block are reports of two tools: it is of one of them."""
    tools = {side.tool for side in sides}
    return len(tools) > 1 and None not in tools


def _is_of_refused(block: Part, above: Sequence[Part], joint: Part) -> bool:
    """Whether a report that is refused has the table in it, or goes on with broken JSON."""
    if joint.tool is None or joint.trials:
        return False
    if block.kind != JSON:
        return True
    return bool(block.fault and above) and is_start(joint.tool, above[-1])


def _beside(text: TextParts, run: Sequence[Part], at: int) -> list[Part]:
    """The parts on both sides of a block, which may be of one of them."""
    above, block, below = run[:at], run[at], run[at + 1 :]
    if above and _needs(text, text.part(above[0].first, above[-1].last), block):
        return [text.part(above[0].first, block.last), *_settled(text, below)]
    if below and _needs(text, text.part(below[0].first, below[-1].last), block):
        return [*_settled(text, above), text.part(block.first, below[-1].last)]
    return [*_settled(text, above), block, *_settled(text, below)]


def _needs(text: TextParts, side: Part, block: Part) -> bool:
    both = text.part(min(side.first, block.first), max(side.last, block.last))
    return says_more(both.entries, side.entries)
