"""`scripts/fix`: the page of the published benchmarks."""

from backend.library.page import page

if __name__ == "__main__":
    print(page(), end="")  # noqa: T201
