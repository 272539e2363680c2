"""A link of a shared result set is a random number that nobody finds by trying."""

import uuid

import pytest

from backend.sharing.models import Visibility
from backend.testing.scenes import make_result_set

GUESSES = 1000


@pytest.mark.parametrize("kind", ["", ".json"])
def test_no_guess_finds_a_shared_result_set(client, scene, kind):
    shared = make_result_set(scene.own.workspace, Visibility.UNLISTED)
    near = [uuid.UUID(int=shared.link.int ^ (1 << bit)) for bit in range(128)]
    guesses = [*near, *(uuid.uuid4() for _ in range(GUESSES - len(near)))]

    assert client.get(f"/s/{shared.link}{kind}").status_code == 200
    assert {client.get(f"/s/{guess}{kind}").status_code for guess in guesses} == {404}
    assert shared.link.version == 4
