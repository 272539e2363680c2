"""What a web process has ready before its first request."""

import subprocess
import sys

import pytest

START = """
from backend.config.serving.wsgi import preparing
preparing.join()
from django.urls import get_resolver
from backend.broker import limits_storage
from backend.stats import simultaneous
print(get_resolver()._populated)
print(simultaneous._within_baseline.cache_info().currsize)
print(limits_storage.cache_info().currsize)
"""


@pytest.mark.processes
def test_the_first_comparison_waits_for_no_routes_no_shared_tables_and_no_clients():
    done = subprocess.run(
        [sys.executable, "-c", START], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.split() == ["True", "20", "1"]
