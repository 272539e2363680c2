"""A plugin of pytest: the folder of a test is made without a look at those of all tests before.

pytest numbers them: for each it reads the names of all that its process has made, often thousands.
"""

import re
import tempfile
from pathlib import Path

import pytest


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder of the test, kept as long as pytest keeps its own."""
    # A socket's path may have 107 characters.
    name = re.sub(r"\W", "_", request.node.name)[:30]
    return Path(tempfile.mkdtemp(prefix=name, dir=tmp_path_factory.getbasetemp()))
