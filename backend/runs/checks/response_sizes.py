"""When responses are of one size, where some are known with their headers and some without.

The body is what a workload asks for. The header is the server's, and most load tools count it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from backend.formats.tools import TOOLS

Key = TypeVar("Key")
# Bodies that differ by less than this share of header and body are of one size: work grows at most
# in proportion.
SAME_SHARE = 0.1
# The smallest header of 40 servers of the library.
LEAST_HEADER_BYTES = 64
# Of 14,107 pairs of servers with one body, the headers of 3 % differ by more, and those of none by
# more than the longest (decision 0081).
USUAL_HEADER_BYTES = 256
LONGEST_HEADER_BYTES = 1_200


@dataclass(frozen=True, slots=True)
class ResponseSize:
    """Bytes of a response. `has_header`: its header is among them, of unknown length."""

    size: float
    has_header: bool = False

    def body(self, header_bytes: int) -> tuple[float, float]:
        """The least and most bytes of its body, where a header has at most so many."""
        return max(self.size - header_bytes, 0.0) if self.has_header else self.size, self.size


def response_size_of(
    tool: str, received: float | None, body: float | None = None
) -> ResponseSize | None:
    """What an output says of a response; None if it says nothing.

    `received`: bytes of a response as the tool counts them. `body`: of its body, where the tool
    tells it apart.
    """
    if body is not None:
        return ResponseSize(body)
    if received is None:
        return None
    return ResponseSize(received, not (tool in TOOLS and TOOLS[tool].counts_bodies_only))


def are_one_size(a: ResponseSize, b: ResponseSize, header_bytes: int) -> bool:
    """Whether both may have bodies of one size, where headers have at most so many bytes."""
    (_, smaller), (larger, _) = sorted((s.body(header_bytes) for s in (a, b)), key=lambda s: s[1])
    return larger <= _most_of_one_size(smaller)


def may_have_body(response: ResponseSize, payload: float, unfinished_share: float) -> bool:
    """Whether responses may have bodies of so many bytes.

    `unfinished_share`: how many more responses, as a share, may be read in part.
    """
    whole = replace(response, size=response.size / (1 + unfinished_share))
    if whole.body(LONGEST_HEADER_BYTES)[0] <= payload <= response.size:
        return True
    asked = ResponseSize(payload)
    return any(are_one_size(asked, size, LONGEST_HEADER_BYTES) for size in (response, whole))


def _most_of_one_size(body: float) -> float:
    return body + SAME_SHARE * (LEAST_HEADER_BYTES + body)


def group_sizes(
    sizes: Mapping[Key, ResponseSize], header_bytes: int
) -> list[dict[Key, ResponseSize]]:
    """The sizes in groups that may be of one size, each with the size of its smallest."""
    groups: list[dict[Key, ResponseSize]] = []
    limit = -1.0
    for key, size in sorted(sizes.items(), key=lambda item: item[1].size):
        least, most = size.body(header_bytes)
        if least > limit:
            groups.append({})
            limit = _most_of_one_size(most)
        groups[-1][key] = size
    return groups


def smallest_sizes(sizes: Iterable[ResponseSize], header_bytes: int) -> list[float]:
    """In order, the smallest of each group of sizes that may be one."""
    groups = group_sizes(dict(enumerate(sizes)), header_bytes)
    return [next(iter(group.values())).size for group in groups]
