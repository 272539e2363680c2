"""A plugin of pytest: the files of the pages are looked up once in a process.

Each client of Django makes its own middleware, and WhiteNoise's looks up every file of the pages
when it is made, which takes longer than most requests.
"""

from collections.abc import Iterable
from typing import Any

import pytest


@pytest.fixture(autouse=True, scope="session")
def _looks_up_files_once() -> Iterable[None]:
    from whitenoise.middleware import WhiteNoiseMiddleware

    look_up = WhiteNoiseMiddleware.add_files_from_finders
    files: dict[str, Any] = {}

    def add_files(middleware: WhiteNoiseMiddleware) -> None:
        if not files:
            look_up(middleware)
            files.update(middleware.files)
        middleware.files = dict(files)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", add_files)
        yield
