"""Each process of the tests has files and keys of its own."""

import os
from pathlib import Path

from django.conf import settings

from backend.testing.own_services import separate

GIVEN = {"DATA_DIR": "/data/files", "REDIS_URL": "redis://:secret@127.0.0.1:6379/0"}


def places_of(worker):
    environment = {**GIVEN, "PYTEST_XDIST_WORKER": worker}
    separate(environment)
    return environment["DATA_DIR"], environment["REDIS_URL"]


def test_two_processes_share_neither_folder_nor_database():
    assert places_of("gw0") == ("/data/files/gw0", "redis://:secret@127.0.0.1:6379/0")
    assert places_of("gw1") == ("/data/files/gw1", "redis://:secret@127.0.0.1:6379/1")
    assert places_of("gw17")[1].endswith("/1"), "a Valkey has 16 databases"


def test_a_process_alone_keeps_what_it_was_given():
    environment = dict(GIVEN)
    separate(environment)
    assert environment == GIVEN


def test_the_settings_are_those_of_this_process():
    assert Path(os.environ["DATA_DIR"]) == settings.DATA_DIR
    assert settings.CELERY_BROKER_URL == settings.CACHE_URL == os.environ["REDIS_URL"]
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    assert settings.DATA_DIR.name == worker or not worker
