"""fortio: closed loop as fast as it can; JSON and the text (on stderr)."""

from __future__ import annotations

from loadsheet_agent.tools import base


class Fortio(base.Tool):
    name = "fortio"
    version_args = ("version",)
    version_pattern = r"^v?(\d+(?:\.\d+)+)"
    install_hint = "see fortio.org"
    is_threaded = True
    request_for_each_connection = True

    def command(self, point: base.LoadPoint, prefix: str) -> base.Command:
        report = f"{prefix}-report.json"
        kind = point.header("content-type")
        argv = (
            self.name,
            "load",
            *("-c", str(point.connections)),
            *("-qps", "0"),
            *base.length_flags(point, "-n", "-t"),
            *("-gomaxprocs", str(point.threads)),
            *("-r", "0.00001"),  # its default sees nothing below a millisecond
            *("-p", "50,75,90,95,99,99.9"),
            *("-labels", "loadsheet"),
            "-allow-initial-errors",  # errors are a result, not a reason to have none
            "-log-errors=false",
            *(("-X", point.method) if point.method != "GET" else ()),
            *base.colon_headers(point.headers_but("content-type") if point.body else point.headers),
            *(("-content-type", kind) if kind and point.body is not None else ()),
            *(("-payload-file", base.body_name(prefix)) if point.body is not None else ()),
            *(() if point.keepalive else ("-keepalive=false",)),
            *(("-k",) if point.tls else ()),
            *("-json", report),
            point.url,
        )
        return base.Command(
            argv=argv,
            stdout=f"{prefix}-stdout.txt",
            files=(report,),
            inputs=base.body_input(point, prefix),
        )

    def glance(self, outputs: base.Outputs, command: base.Command) -> base.Glance:
        report = base.read_json(outputs(command.files[0]))
        codes = report.get("RetCodes") or {}
        tried = sum(codes.values())
        good = sum(count for code, count in codes.items() if code[:1] in ("2", "3"))
        points = (report.get("DurationHistogram") or {}).get("Percentiles") or ()
        return base.Glance(
            throughput_rps=base.number_at(report, "ActualQPS"),
            p99_s=next(
                (base.number_at(each, "Value") for each in points if each["Percentile"] == 99), None
            ),
            error_rate=base.share_of(tried - good, tried),
        )
