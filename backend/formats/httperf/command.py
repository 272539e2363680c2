"""The command line that httperf prints first, with its defaults filled in."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from backend.formats.numbers import parse_count, parse_number
from backend.formats.text import Line

# What word processors, blogs and PDF make of the two hyphens.
DASHES = "-\u2010\u2011\u2012\u2013\u2014\u2212"
SAMPLING_S = 5.0
LAST_OPTIONS = frozenset(("num-calls", "wsess", "wsesslog", "wsesspage"))


@dataclass(frozen=True)
class Command:
    """The options of one httperf command by name, "" for those without a value."""

    options: dict[str, str] = field(default_factory=dict)

    @property
    def is_echo(self) -> bool:
        """Whether httperf printed the command: only its own print names the buffers."""
        return "client" in self.options and "send-buffer" in self.options

    @property
    def url(self) -> str | None:
        server, port = self.options.get("server"), self.options.get("port")
        if not server:
            return None
        scheme = "https" if "ssl" in self.options else "http"
        host = f"[{server}]" if ":" in server and not server.startswith("[") else server
        return f"{scheme}://{host}{f':{port}' if port else ''}{self.options.get('uri', '/')}"

    @property
    def loop(self) -> str | None:
        """Open with a rate of connections or sessions, else one after another."""
        if not self.options:
            return None
        if self._has_rate:
            return "open"
        # An echo names the rate before the buffers: without these it is cut off.
        return "closed" if self.is_echo or "client" not in self.options else None

    @property
    def _has_rate(self) -> bool:
        return "period" in self.options or (_general(self.options.get("rate", "")) or 0) > 0

    @property
    def rate_rps(self) -> float | None:
        """Requests per second asked for: connections or sessions, times the calls of each."""
        starts, calls = self._starts_per_second(), self._counts()[1]
        if not starts or calls is None:
            return None
        return round(starts * calls, 6)

    def _starts_per_second(self) -> float | None:
        if "rate" in self.options:
            return _general(self.options["rate"])
        kind, seconds = self.options.get("period", "")[:1], self.options.get("period", "")[1:]
        # The mean time between two; a period of several rates has none.
        times = [_general(word) for word in seconds.split(",")]
        means = [time for time in times if time]
        if len(means) != len(times) or (kind, len(means)) not in (("e", 1), ("u", 2)):
            return None
        return len(means) / sum(means)

    @property
    def requests(self) -> int | None:
        """Requests asked for."""
        units, calls = self._counts()
        return None if units is None or calls is None else units * calls

    def _counts(self) -> tuple[int | None, int | None]:
        """Connections or sessions, and the calls of each, where they are all alike."""
        if "wsesslog" in self.options or "wsesspage" in self.options:
            return None, None
        if "wsess" in self.options:
            parts = [*self.options["wsess"].split(","), "", ""]
            return parse_count(parts[0]), parse_count(parts[1])
        return parse_count(self.options.get("num-conns", "")), parse_count(
            self.options.get("num-calls", "")
        )

    @property
    def duration_s(self) -> float | None:
        return _general(self.options.get("runtime", ""))

    @property
    def first_sample_s(self) -> float | None:
        """When the first reply rate is sampled: clients of one test take turns."""
        place, _, of = self.options.get("client", "").partition("/")
        client, clients = parse_count(place), parse_count(of)
        if client is None or not clients or client >= clients:
            return None
        return SAMPLING_S * (client + 1) / clients


def command_of(line: Line) -> Command | None:
    """The command in a line, behind a prompt or not; None if there is none."""
    if "httperf" not in line.text:
        return None
    words = line.words
    for position, word in enumerate(words[:-1]):
        is_option = words[position + 1][0] in DASHES
        if is_option and (word == "httperf" or word.endswith("/httperf")):
            return Command(_options(words[position + 1 :]))
    return None


def joined(lines: Sequence[Line]) -> list[Line]:
    """The lines, with a command that was wrapped on one."""
    whole_lines: list[Line] = []
    is_command = False
    for line in lines:
        if is_command and _goes_on(whole_lines[-1].text, line.text):
            whole_lines[-1] = _with(whole_lines[-1], line.text)
        else:
            is_command = command_of(line) is not None
            whole_lines.append(line)
    return whole_lines


def _goes_on(before: str, text: str) -> bool:
    if not text or "httperf" in text:
        return False
    has_option = any(word[0] in DASHES for word in text.split())
    return has_option or before.endswith("\\") or parse_count(text) is not None


def _with(before: Line, text: str) -> Line:
    # A terminal wraps within words, people and programs between them.
    gap = " " if before.text.endswith("\\") or text[0] in DASHES else ""
    return Line(before.number, before.text.removesuffix("\\") + gap + text)


def _options(words: Sequence[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    name = ""
    for word in words:
        if word[0] in DASHES:
            name, _, value = word.lstrip(DASHES).partition("=")
            options[name] = value
        elif name and not options[name]:
            options[name] = word
    # What httperf prints ends in the calls or the sessions: else the last value may be cut off.
    is_cut = "client" in options and not options.keys() & LAST_OPTIONS
    if is_cut:
        options.pop(name)
    return options


def _general(word: str) -> float | None:
    """The number that C prints as %g: "400", "0.25", "1e+06"."""
    digits, mark, exponent = word.partition("e")
    value, power = parse_number(digits), parse_count(exponent.lstrip("+-")) if mark else 0
    if value is None or power is None or power > 18:
        return None
    # As C would read it: of the digits, not of a product of floats.
    return float(f"{digits.replace(',', '')}e{'-' if exponent.startswith('-') else ''}{power}")
