"""`python -m backend.formats > docs/formats.md`: the page of formats, in the modules' words."""

from backend.formats.reading import TOOLS

HEAD = """# Formats

What each load tool's output says and how it is read. This page is made from the modules'
docstrings: `python -m backend.formats > docs/formats.md`.

Ours, for comparison: percentiles are nearest rank on the histogram; throughput is completed
responses ÷ elapsed time; goodput counts the successful ones only.
"""


def page() -> str:
    """The page in Markdown."""
    sections = [f"## {tool.name}\n\n{tool.doc.strip()}\n" for tool in TOOLS.values()]
    return "\n".join([HEAD, *sections])


if __name__ == "__main__":
    print(page(), end="")  # noqa: T201
