"""Indexes of texts that are searched for a part of them (decision 0057)."""

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db.models import Func


def text_index(*upper: Func, name: str) -> GinIndex:
    """An index for `icontains` of one of these texts, which Django compares in upper case."""
    return GinIndex(*(OpClass(text, name="gin_trgm_ops") for text in upper), name=name)
