"""hey: closed loop; the text, because its CSV has neither failed attempts nor a total."""

from __future__ import annotations

from loadsheet_agent.tools.base import (
    Command,
    Glance,
    LoadPoint,
    Outputs,
    Tool,
    body_input,
    body_name,
    colon_headers,
    number,
    seconds,
    share,
    total,
    uneven_requests,
)


class Hey(Tool):
    name = "hey"
    version_args = ()
    version_pattern = r"hey (\d+(?:\.\d+)+)"  # it has no way to say it: unknown
    install_hint = "apt install hey"

    def special(self, point: LoadPoint) -> str | None:
        return uneven_requests(point)

    def threads(self, point: LoadPoint) -> int:
        return point.threads

    def command(self, point: LoadPoint, prefix: str) -> Command:
        length = ("-n", str(point.requests))
        if point.duration_s is not None:
            length = ("-z", seconds(point.duration_s))
        kind = point.header("content-type")
        argv = (
            self.name,
            *("-c", str(point.connections)),
            *length,
            *("-cpus", str(point.threads)),
            *(("-m", point.method) if point.method != "GET" else ()),
            *(("-T", kind) if kind else ()),
            *colon_headers(point.headers_but("content-type")),
            *(("-D", body_name(prefix)) if point.body is not None else ()),
            # What no other tool does by itself would make the requests different ones.
            *("-disable-compression", "-disable-redirects"),
            *(() if point.keepalive else ("-disable-keepalive",)),
            point.url,
        )
        return Command(argv=argv, stdout=f"{prefix}-stdout.txt", inputs=body_input(point, prefix))

    def glance(self, outputs: Outputs, command: Command) -> Glance:
        text = outputs(command.stdout)
        answered = total(text, r"^\s*\[\d{3}\]\s+(\d+) responses")
        good = total(text, r"^\s*\[[23]\d\d\]\s+(\d+) responses")
        lost = total(text, r"^\s*\[(\d+)\]\s+(?!\d+ responses)\S")
        return Glance(
            throughput_rps=number(text, r"^\s*Requests/sec:\s+([\d.]+)"),
            p99_s=number(text, r"^\s*99%+ in ([\d.]+) secs"),
            error_rate=share(answered - good + lost, answered + lost),
        )
