"""How passwords are hashed."""

from contextlib import nullcontext
from threading import BoundedSemaphore

from django.contrib.auth.hashers import Argon2PasswordHasher

# Hashes of Django's figures that are checked at the same time.
_large = BoundedSemaphore(2)


class PasswordHasher(Argon2PasswordHasher):
    """Two passes over 19 MiB in one thread, the least that OWASP names.

    A web process may hash for each of its request threads at once, which takes 380 MiB. Django's
    100 MiB in eight threads took 2 GiB, and the cores from everybody else. A hash of Django's
    figures is replaced when its owner signs in; until then, two of these are checked at a time.
    """

    time_cost = 2
    memory_cost = 19 << 10  # KiB
    parallelism = 1

    def verify(self, password: str, encoded: str) -> bool:
        is_large = self.decode(encoded)["memory_cost"] > self.memory_cost
        with _large if is_large else nullcontext():
            return super().verify(password, encoded)
