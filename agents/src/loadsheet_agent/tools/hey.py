"""hey: closed loop; the text, because its CSV has neither failed attempts nor a total."""

from __future__ import annotations

from loadsheet_agent.tools import base


class Hey(base.Tool):
    name = "hey"
    version_args = ()
    version_pattern = r"hey (\d+(?:\.\d+)+)"  # it has no way to say it: unknown
    install_hint = "apt install hey"
    is_threaded = True

    def special(self, point: base.LoadPoint) -> str | None:
        return base.refuse_uneven_requests(point)

    def command(self, point: base.LoadPoint, prefix: str) -> base.Command:
        kind = point.header("content-type")
        argv = (
            self.name,
            *("-c", str(point.connections)),
            *base.length_flags(point, "-n", "-z"),
            *("-cpus", str(point.threads)),
            *(("-m", point.method) if point.method != "GET" else ()),
            *(("-T", kind) if kind else ()),
            *base.colon_headers(point.headers_but("content-type")),
            *(("-D", base.body_name(prefix)) if point.body is not None else ()),
            # What no other tool does by itself would make the requests different ones.
            *("-disable-compression", "-disable-redirects"),
            *(() if point.keepalive else ("-disable-keepalive",)),
            point.url,
        )
        return base.Command(
            argv=argv, stdout=f"{prefix}-stdout.txt", inputs=base.body_input(point, prefix)
        )

    def glance(self, outputs: base.Outputs, command: base.Command) -> base.Glance:
        text = outputs(command.stdout)
        answered = base.sum_numbers(text, r"^\s*\[\d{3}\]\s+(\d+) responses")
        good = base.sum_numbers(text, r"^\s*\[[23]\d\d\]\s+(\d+) responses")
        lost = base.sum_numbers(text, r"^\s*\[(\d+)\]\s+(?!\d+ responses)\S")
        return base.Glance(
            throughput_rps=base.find_number(text, r"^\s*Requests/sec:\s+([\d.]+)"),
            p99_s=base.find_number(text, r"^\s*99%+ in ([\d.]+) secs"),
            error_rate=base.share_of(answered - good + lost, answered + lost),
        )
