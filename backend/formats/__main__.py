"""`python -m backend.formats > docs/formats.md`: the page of formats, in the modules' words."""

from backend.formats.reading import TOOLS

HEAD = """# Formats

What the output of each load tool says, and how Loadsheet reads it. This page is made from the
modules' docstrings: `python -m backend.formats > docs/formats.md`.

For comparison: Loadsheet computes percentiles by nearest rank on the histogram, throughput as
completed responses ÷ elapsed time, and goodput from successful responses only.
"""


def page() -> str:
    """The page in Markdown."""
    sections = [f"## {tool.name}\n\n{tool.doc.strip()}\n" for tool in TOOLS.values()]
    return "\n".join([HEAD, *sections])


if __name__ == "__main__":
    print(page(), end="")  # noqa: T201
