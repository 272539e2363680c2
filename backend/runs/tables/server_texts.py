"""The table of texts that tell servers of one name apart. A new one is one entry here.

From an entry follow the member of the envelope, the column of servers (`manage.py makemigrations`
writes its migration), the identity of servers, the field of comparisons, the column of the table of
trials, the box of the upload form, and the variants of a server in the API.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerText:
    """A text such as the version. `name`: its key everywhere. `noun`: its name in a sentence."""

    name: str
    noun: str
    # In the box of the upload form.
    example: str = ""
    # Its place among the fields that name a series, and among those that tell series of one name
    # apart: by default after the runtime.
    name_rank: int = 25
    apart_rank: int = 115
    # Whether its values have an order that a line may follow.
    has_order: bool = False


SERVER_TEXTS: tuple[ServerText, ...] = (
    ServerText(
        name="version",
        noun="version",
        example="1.27.0",
        name_rank=10,
        apart_rank=10,
        has_order=True,
    ),
    ServerText(name="runtime", noun="runtime", name_rank=20, apart_rank=110),
)
