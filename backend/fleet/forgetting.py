"""Rows that an agent makes as it likes, by new names: the latest of a workspace are kept."""

from typing import Any

from django.db.models import QuerySet

AT_ONCE = 100


def forget_beyond(rows: QuerySet[Any], most: int) -> None:
    """Delete what comes behind the first `most` of ordered rows, AT_ONCE of it.

    Call it in a transaction. Rows that another transaction has locked are left to the next call.
    """
    beyond = list(rows.values_list("pk", flat=True)[most : most + AT_ONCE])
    if beyond:
        every = rows.model._default_manager
        free = every.filter(pk__in=beyond).select_for_update(skip_locked=True)
        every.filter(pk__in=list(free.values_list("pk", flat=True))).delete()
