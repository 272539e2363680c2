"""How long the JSON of a column is, told by the database: what is too long is not read for it."""

from django.db.models import Func, IntegerField, TextField
from django.db.models.functions import Cast


def json_bytes(column: str) -> Func:
    """Bytes of the JSON text in the column of this path; null where there is none."""
    return Func(Cast(column, TextField()), function="octet_length", output_field=IntegerField())
