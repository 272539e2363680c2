"""How passwords are hashed."""

from django.contrib.auth.hashers import Argon2PasswordHasher


class PasswordHasher(Argon2PasswordHasher):
    """Two passes over 19 MiB in one thread, the least that OWASP names.

    A web process may hash for each of its request threads at once, which takes 380 MiB. Django's
    100 MiB in eight threads took 2 GiB, and the cores from everybody else. A hash of Django's
    figures is replaced when its owner signs in.
    """

    time_cost = 2
    memory_cost = 19 << 10  # KiB
    parallelism = 1
