"""A service with a data folder of its own, for a bench."""

import json
import os
import platform
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from backend.config.recovery.embedded import free_port
from backend.config.site.site import Site


def print_machine() -> None:
    """Print the machine that figures are of."""
    print(f"{os.cpu_count()} cores, {platform.platform()}, Python {platform.python_version()}")


class BenchSite(Site):
    """A service with more in its environment. A folder in PYTHONPATH comes behind its own."""

    def __init__(self, port: int, folder: Path, more: Mapping[str, str]) -> None:
        super().__init__(port, folder)
        self._more = more

    def _environment(self) -> dict[str, str]:
        own = super()._environment()
        paths = [own["PYTHONPATH"], self._more.get("PYTHONPATH", "")]
        return {**own, **self._more, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


@contextmanager
def own_service(folder: str | None = None, more: Mapping[str, str] = {}) -> Iterator[Site]:
    """A service that runs, with a fresh data folder below `folder`."""
    with tempfile.TemporaryDirectory(prefix="loadsheet-bench-", dir=folder) as data:
        # As root, PostgreSQL runs as another user.
        Path(data).chmod(0o755)
        site = BenchSite(free_port(), Path(data), more)
        try:
            site.start()
            yield site
        finally:
            site.stop()


def demo_token(site: Site) -> str:
    """The token of the demo workspace, which is made."""
    token: str = json.loads(site.manage("make_demo"))["token"]
    return token
