"""Each reader takes about twice the time for twice the text, also of texts made to be hard.

What a whole reading costs is measured by `scripts/bench worst-outputs`. Here only growth is looked
at, in CPU time, so that a busy machine changes nothing.
"""

import contextlib
import time

import pytest

from backend.formats import TOOLS, FormatError, RawArtefact, parse
from backend.testing.worst_outputs import worst_outputs

TEXTS_OF_A_TOOL = 16
FIRST_BYTES = 32 << 10
# With the square of the size, four times as long. Shorter times are noise.
MOST_RATIO, LEAST_S = 3.0, 0.02
# A ratio that seems too large is measured again.
ROUNDS = 6


@pytest.mark.long
@pytest.mark.parametrize("tool", TOOLS)
def test_twice_the_text_takes_about_twice_as_long(tool):
    texts = list(worst_outputs(tool))
    some = texts[:: max(len(texts) // TEXTS_OF_A_TOOL, 1)]
    hardest = max(some, key=lambda text: cpu_s(text, FIRST_BYTES))
    assert growth(hardest) < MOST_RATIO, hardest.name


def growth(text):
    """How many times as long twice the text takes, at a size where the time is more than noise."""
    size = FIRST_BYTES
    while cpu_s(text, size) < LEAST_S:
        size *= 2
    return min(cpu_s(text, 2 * size) / cpu_s(text, size) for _ in range(ROUNDS))


def cpu_s(text, size):
    artefact = RawArtefact.of("output.txt", text.build(size))
    began_s = time.process_time()
    with contextlib.suppress(FormatError):
        parse([artefact])
    return time.process_time() - began_s
