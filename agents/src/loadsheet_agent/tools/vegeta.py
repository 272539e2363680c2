"""vegeta: open loop at a constant rate, or closed with as many workers as connections.

It writes gob; what is kept is the same as JSON lines, and the text report.
"""

from __future__ import annotations

from loadsheet_agent.tools import base


class Vegeta(base.Tool):
    name = "vegeta"
    loops = ("open", "closed")
    version_args = ("-version",)
    version_pattern = r"Version: v?(\d+(?:\.\d+)+)"
    install_hint = "go install github.com/tsenart/vegeta/v12@latest"
    is_threaded = True
    counts = False

    def special(self, point: base.LoadPoint) -> str | None:
        return base.refuse_fraction_rate(point)

    def command(self, point: base.LoadPoint, prefix: str) -> base.Command:
        results, lines = f"{prefix}-results.gob", f"{prefix}-results.json"
        text, targets = f"{prefix}-stdout.txt", f"{prefix}-targets.txt"
        argv = (
            self.name,
            f"-cpus={point.threads}",
            "attack",
            f"-targets={targets}",
            *_load(point),
            f"-duration={base.format_duration(point.duration_s or 0)}",
            "-max-body=0",
            "-redirects=-1",
            *(() if point.keepalive else ("-keepalive=false",)),
            *(("-insecure",) if point.tls else ()),
            f"-output={results}",
        )
        return base.Command(
            argv=argv,
            stdout=f"{prefix}-attack.txt",
            files=(text, lines),
            inputs={targets: _target(point, prefix), **base.body_input(point, prefix)},
            scratch=(results,),
            after=(
                ((self.name, "report", results), text),
                ((self.name, "encode", "-to=json", results), lines),
            ),
        )

    def glance(self, outputs: base.Outputs, command: base.Command) -> base.Glance:
        text = outputs(command.files[0])
        good = base.find_number(text, r"^Success\s+\[ratio\]\s+([\d.]+)%")
        times = r"^Latencies\s+\[min, mean, 50, 90, 95, 99, max\]\s+(?:\S+, ){5}"
        return base.Glance(
            throughput_rps=base.find_number(
                text, r"^Requests\s+\[total, rate[^\]]*\]\s+\d+, ([\d.]+)"
            ),
            p99_s=base.find_time_s(text, times + r"([\d.]+)(ns|µs|ms|s|m|h),"),
            error_rate=None if good is None else 1 - good / 100,
        )


def _load(point: base.LoadPoint) -> tuple[str, ...]:
    bound = f"-connections={point.connections}"
    if point.rate_rps is None:
        workers = point.connections
        return ("-rate=0", f"-workers={workers}", f"-max-workers={workers}", bound)
    return (f"-rate={point.rate_rps:.0f}/1s", bound, f"-max-connections={point.connections}")


def _target(point: base.LoadPoint, prefix: str) -> bytes:
    lines = [f"{point.method} {point.url}"]
    lines += [f"{name}: {text}" for name, text in point.headers]
    if point.body is not None:
        lines.append(f"@{base.body_name(prefix)}")
    return "\n".join([*lines, ""]).encode()
