"""Writes the pages of the shelf as files, for servers of files: write_files.py FOLDER."""

import sys
from pathlib import Path

SIZES = (5, 13, 37, 40, 10000, 39107, 41148)


def main(folder: Path) -> None:
    (folder / "bytes").mkdir(parents=True, exist_ok=True)
    (folder / "hello.txt").write_bytes(b"Hello, world!")
    for size in SIZES:
        (folder / "bytes" / str(size)).write_bytes(b"x" * size)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
