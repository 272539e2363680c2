"""Tables of a bench in a page of the documentation."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path


def as_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def put_tables(page: Path, bench: str, bodies: Mapping[str, str]) -> None:
    """Put each text between its markers, `<!-- BENCH NAME -->` and `<!-- end -->`."""
    text = page.read_text()
    for name, body in bodies.items():
        head, begin, rest = text.partition(f"<!-- {bench} {name} -->\n")
        _, end, tail = rest.partition("<!-- end -->")
        text = f"{head}{begin}{body}\n{end}{tail}" if begin else text
    page.write_text(text)
