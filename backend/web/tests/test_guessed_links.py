"""A link of a shared result set is a random number that nobody finds by trying."""

import uuid

import pytest

from backend.sharing.models import Visibility
from backend.testing.scenes import make_result_set

# A random link is one of 2**122: more of them would find no more.
RANDOM = 32


@pytest.mark.parametrize("kind", ["", ".json"])
def test_no_guess_finds_a_shared_result_set(client, scene, kind):
    """Not by another bit of the link either: a link that is nearly right is as wrong as any."""
    shared = make_result_set(scene.own.workspace, Visibility.UNLISTED)
    near = [uuid.UUID(int=shared.link.int ^ (1 << bit)) for bit in range(128)]
    guesses = [*near, *(uuid.uuid4() for _ in range(RANDOM))]

    assert client.get(f"/s/{shared.link}{kind}").status_code == 200
    assert {client.get(f"/s/{guess}{kind}").status_code for guess in guesses} == {404}
    assert shared.link.version == 4
