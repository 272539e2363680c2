"""Memory of a service over many uploads: sampled while it is idle, and judged by its slope."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import linear_regression, median

from backend.testing.service.processes import memory_by_program

POINTS = 10
# While caches and pools fill, memory grows and that tells nothing.
WARM_UP_POINTS = 2
# A growth over all points up to this share is the allocator's.
FLAT_SHARE = 0.03
# Our own programs are judged. PostgreSQL grows until its shared buffers are full.
JUDGED = ("web", "worker", "parser", "beat")
SHOWN = (*JUDGED, "postgres", "valkey")
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Sample:
    """Bytes by program after so many uploads."""

    uploads: int
    # Pages that processes share are counted once.
    proportional: Mapping[str, int]
    # They are counted in each process.
    resident: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Trend:
    """How the memory of one program goes on with the number of uploads, after the warm-up."""

    program: str
    bytes_per_upload: float
    # From the first point after the warm-up to the last, as a share of the median.
    growth: float

    @property
    def is_flat(self) -> bool:
        return self.growth <= FLAT_SHARE

    @property
    def line(self) -> str:
        slope = f"{self.bytes_per_upload * 10_000 / MIB:+.2f} MiB for 10,000 uploads"
        state = "flat" if self.is_flat else "GROWS"
        return f"{self.program:10}{state}: {slope}, {self.growth:+.1%} over the points"


def sample_over(
    count: int, send: Callable[[int], int], *, say: Callable[[str], object]
) -> list[Sample]:
    """One sample before, and one after each tenth of `count` uploads.

    `send` sends so many, waits until they are read and returns how many there were; `say` takes the
    line of each sample.
    """
    samples = [Sample(0, *memory_by_program())]
    for _ in range(POINTS):
        uploads = samples[-1].uploads + send(count // POINTS)
        samples.append(Sample(uploads, *memory_by_program()))
        say(line_of(samples[-1]))
    return samples


def line_of(sample: Sample) -> str:
    """MiB of each program: shared pages counted once / in each process."""
    figures = ", ".join(
        f"{name} {sample.proportional.get(name, 0) / MIB:.0f}/"
        f"{sample.resident.get(name, 0) / MIB:.0f}"
        for name in SHOWN
    )
    return f"{sample.uploads:>9,} uploads: {figures}"


def trends(samples: Sequence[Sample]) -> Iterator[Trend]:
    """Of each program of ours, over the points after the warm-up: two points at least."""
    settled = samples[WARM_UP_POINTS:]
    uploads = [sample.uploads for sample in settled]
    for program in JUDGED:
        used = [sample.proportional.get(program, 0) for sample in settled]
        slope = linear_regression(uploads, used).slope
        growth = slope * (uploads[-1] - uploads[0]) / (median(used) or 1)
        yield Trend(program, slope, growth)
