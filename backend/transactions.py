"""Whole transactions that begin again where others overtook them: the one place that repeats."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import Error, connection, transaction

from backend.database_faults import is_overtaken

MOST_ATTEMPTS = 4
Given = ParamSpec("Given")
Result = TypeVar("Result")


def whole(work: Callable[Given, Result]) -> Callable[Given, Result]:
    """`work` in a transaction, from its beginning again where others overtook it.

    `work` must do nothing outside the database that it may not do twice, and gives what it changes
    of its arguments the same values again.
    """

    @wraps(work)
    def repeated(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        def once() -> Result:
            with transaction.atomic():
                return work(*args, **kwargs)

        return repeat_if_overtaken(once)

    return repeated


def repeat_if_overtaken(work: Callable[[], Result]) -> Result:
    """The result of `work`, a whole transaction, which begins again where others overtook it.

    Inside another transaction nothing is repeated: PostgreSQL undoes all of it. The last fault is
    raised.
    """
    attempts = 1 if connection.in_atomic_block else MOST_ATTEMPTS
    for _ in range(attempts - 1):
        try:
            return work()
        except Error as error:
            if not is_overtaken(error):
                raise
    return work()
