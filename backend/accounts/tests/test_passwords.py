"""What a hash of a password takes."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher, check_password, make_password

from backend.accounts.sign_in.passwords import PasswordHasher
from backend.testing.uploads import make_tenant
from backend.untrusted.limits import REQUEST_THREADS

# Of the 2 GiB that Compose and Kubernetes give a web server.
MOST_BYTES = 512 << 20


def test_all_request_threads_may_hash_at_once():
    hasher = PasswordHasher()
    assert make_password("x").startswith("argon2$argon2id$v=19$m=19456,t=2,p=1$")
    assert hasher.parallelism == 1
    assert REQUEST_THREADS * (hasher.memory_cost << 10) <= MOST_BYTES


@pytest.mark.django_db
def test_a_hash_of_other_figures_is_replaced_when_its_owner_signs_in(client):
    user = make_tenant().user
    user.password = Argon2PasswordHasher().encode("correct horse battery", "salt" * 4)
    user.save()
    assert client.login(username=user.username, password="correct horse battery")
    user.refresh_from_db()
    assert user.password.startswith("argon2$argon2id$v=19$m=19456,t=2,p=1$")
    assert check_password("correct horse battery", user.password)


def test_few_hashes_of_larger_figures_are_checked_at_once(monkeypatch):
    old = Argon2PasswordHasher().encode("correct horse battery", "salt" * 4)
    running, most = [], []

    def verify(*_):
        running.append(1)
        most.append(len(running))
        time.sleep(0.01)
        running.pop()
        return True

    monkeypatch.setattr(Argon2PasswordHasher, "verify", verify)
    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(lambda _: PasswordHasher().verify("x", old), range(16)))
    assert max(most) == 2
