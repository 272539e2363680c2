"""`python -m backend.formats > docs/formats.md`: the page of formats, in the modules' words."""

from backend.formats.reading import TOOLS

HEAD = """# Formats

What the output of each load tool says, and how Loadsheet reads it. This page is made from the
modules' docstrings: `python -m backend.formats > docs/formats.md`.

For comparison: Loadsheet computes percentiles by nearest rank on the histogram, throughput as
completed responses ÷ elapsed time, and goodput from successful responses only.

Most tools print the elapsed time with few digits, and compute their rate from the exact time. Where
rate and count give the time more exactly than it is printed (ab, h2load, hey, httperf, JMeter's
summariser, plow, siege, wrk, wrk2), Loadsheet takes the time from them. A printed time of 1.15 s
can be 0.4 % off, plow's 0.2 s by 40 %. If rate and time contradict each other, the printed time
stands.
"""


def page() -> str:
    """The page in Markdown."""
    sections = [f"## {tool.name}\n\n{tool.doc.strip()}\n" for tool in TOOLS.values()]
    return "\n".join([HEAD, *sections])


if __name__ == "__main__":
    print(page(), end="")  # noqa: T201
