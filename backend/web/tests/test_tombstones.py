"""What frames, images and programs get where a result set was taken down."""

import json
import re

import pytest
from django.test import Client

from backend.accounts.takedown_models import Takedown, Thing
from backend.sharing.models import Visibility
from backend.storage import storage
from backend.testing.scenes import make_result_set

pytestmark = pytest.mark.django_db
REASON = "It shows an address of a person"


@pytest.fixture
def taken_down(scene, settings, tmp_path):
    """Takes a public result set down, and returns the id in its address."""
    settings.DATA_DIR = tmp_path
    storage.cache_clear()

    def take_down(**fields):
        workspace = scene.own.workspace
        result_set = make_result_set(workspace, Visibility.PUBLIC)
        thing = {"kind": Thing.RESULT_SET, "thing_id": result_set.pk, "workspace": workspace}
        Takedown.objects.create(**thing, reason=REASON, **fields)
        return result_set.link

    yield take_down
    storage.cache_clear()


def test_a_frame_shows_the_tombstone_without_links(taken_down):
    """Pages that a link would open refuse to be framed."""
    link = taken_down()

    answer = Client().get(f"/embed/{link}")

    assert answer.status_code == 410
    assert "frame-ancestors *" in answer["Content-Security-Policy"]
    assert '<body class="embed">' in answer.text
    assert REASON in answer.text
    assert not re.findall("<(?:a|form|nav|button)[ >]", answer.text)


@pytest.mark.parametrize("ending", ["svg", "png"])
@pytest.mark.parametrize("is_legal", [False, True])
def test_a_readme_shows_an_image_in_place_of_one(ending, is_legal, taken_down):
    link = taken_down(is_legal=is_legal)

    answer = Client().get(
        f"/s/{link}.{ending}", headers={"accept": "image/avif,image/webp,*/*;q=0.8"}
    )

    assert answer.status_code == (451 if is_legal else 410)
    assert answer["Content-Type"] == {"svg": "image/svg+xml", "png": "image/png"}[ending]
    assert "Accept" in answer["Vary"]
    if ending == "svg":
        assert ">taken down</text>" in answer.text
        assert REASON in answer.text
    else:
        assert answer.content.startswith(b"\x89PNG")


def test_a_tombstone_for_programs_has_the_code_of_the_api(taken_down):
    link = taken_down()
    api = json.loads(Client().get(f"/api/v1/result-sets/{link}").content)

    for path in (f"/s/{link}.json", f"/s/{link}.csv"):
        problem = json.loads(Client().get(path).content)
        assert problem == api, path
