"""wrk: closed loop, keep-alive unless told to close, text only."""

from __future__ import annotations

from loadsheet_agent.tools import base


class Wrk(base.Tool):
    name = "wrk"
    version_args = ("-v",)
    version_pattern = r"^wrk (?:\S*/)?(\d+(?:\.\d+)+)"
    install_hint = "apt install wrk"
    whole_seconds = True
    counts = False

    def special(self, point: base.LoadPoint) -> str | None:
        if point.method == "HEAD":
            return base.WAITS_FOR_BODY
        if not point.keepalive and not point.announces_close:
            return (
                "counts a read error for each answer of a server that closes without announcing it"
            )
        return None

    def threads(self, point: base.LoadPoint) -> int:
        # wrk gives each thread connections // threads and drops the rest, so only a divisor
        # keeps the number of connections that was asked for.
        return base.dividing_threads(point)

    def command(self, point: base.LoadPoint, prefix: str) -> base.Command:
        script = f"{prefix}-request.lua"
        inputs = {script: _script(point)} if point.method != "GET" or point.body else {}
        argv = (
            self.name,
            f"-t{self.threads(point)}",
            f"-c{point.connections}",
            f"-d{point.duration_s:.0f}s",
            *self.rate(point),
            "--latency",
            *(("-s", script) if inputs else ()),
            *base.colon_headers(point.closing_headers),
            point.url,
        )
        return base.Command(argv=argv, stdout=f"{prefix}-stdout.txt", inputs=inputs)

    def rate(self, point: base.LoadPoint) -> tuple[str, ...]:
        return ()

    def glance(self, outputs: base.Outputs, command: base.Command) -> base.Glance:
        text = outputs(command.stdout)
        done = base.find_number(text, r"^\s*(\d+) requests in ")
        lost = base.sum_numbers(text, r"(?:connect|read|write|timeout) (\d+)")
        failed = lost + base.sum_numbers(text, r"Non-2xx or 3xx responses: (\d+)")
        return base.Glance(
            throughput_rps=base.find_number(text, r"^Requests/sec:\s+([\d.]+)"),
            p99_s=base.find_time_s(text, r"^\s+99(?:\.000)?%\s+([\d.]+)(us|ms|s|m|h)\s*$"),
            error_rate=None if done is None else base.share_of(failed, done + lost),
        )


def _script(point: base.LoadPoint) -> bytes:
    """wrk reads method and body from a script; this one sets two texts and runs nothing."""
    lines = [f"wrk.method = {_lua(point.method.encode())}"]
    if point.body is not None:
        lines.append(f"wrk.body = {_lua(point.body)}")
    return "\n".join([*lines, ""]).encode()


def _lua(text: bytes) -> str:
    """Every byte as a decimal escape: nothing in a plan can end the text and become code."""
    return '"' + "".join(f"\\{byte:03d}" for byte in text) + '"'
