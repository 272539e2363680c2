import pytest

from backend.storage import storage


@pytest.fixture(autouse=True)
def files(settings, tmp_path):
    """A storage of this test's own, in files."""
    settings.DATA_DIR = tmp_path
    storage.cache_clear()
    yield tmp_path / "artefacts"
    storage.cache_clear()
