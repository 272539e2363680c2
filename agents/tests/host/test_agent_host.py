"""Facts, clock and score of this machine; what the machine does not say stays null."""

from __future__ import annotations

from pathlib import Path

import httpx
import psutil
import pytest

from loadsheet_agent.host import facts
from loadsheet_agent.host.calibration import calibrate
from loadsheet_agent.host.clock import Offset, TimeAnswer, offset_of
from loadsheet_agent.host.facts import read_host, sha256_of
from loadsheet_agent.host.preflight import GOOD, SPOILS, UNKNOWN, WARNS, Needs, examine, is_unfit
from loadsheet_agent.upload import api_client
from loadsheet_agent.upload.target import Target

STUDY = [
    "fs.file-max",
    "fs.pipe-max-size",
    "fs.file-nr",
    "net.core.somaxconn",
    "net.core.netdev_max_backlog",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_max_orphans",
    "net.ipv4.ip_local_port_range",
    "net.core.optmem_max",
    "net.ipv4.tcp_mem",
    "net.core.rmem_default",
    "net.core.rmem_max",
    "net.ipv4.tcp_rmem",
    "net.core.wmem_default",
    "net.core.wmem_max",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_fastopen",
    "net.ipv4.tcp_low_latency",
    "net.ipv4.tcp_window_scaling",
]


def test_every_sysctl_of_the_study_is_read_or_null():
    found = read_host().facts
    for name in STUDY:
        path = Path("/proc/sys") / name.replace(".", "/")
        wanted = " ".join(path.read_text().split()) if path.exists() else None
        key = name.rpartition(".")[2].replace("-", "_")
        if name != "fs.file-nr":  # it changes with every open file
            assert found[key] == wanted, name
        assert key in found


def test_what_a_machine_does_not_say_is_null(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(facts, "_text", lambda _: None)
    monkeypatch.setattr(facts.psutil, "cpu_freq", lambda: None)
    found = facts._more_facts()
    for name in ("cpu_governor", "cpu_mhz", "smt", "cpu_boost", "cgroup_cpu_max", "somaxconn"):
        assert found[name] is None, name


def test_the_interface_towards_a_server(tmp_path: Path):
    loopback = read_host(towards="127.0.0.1").facts
    assert loopback["nic"] in psutil.net_if_addrs()
    assert loopback["nic_speed_mbit"] is None
    assert read_host().facts["nic"] is None
    assert read_host(towards="no.such.host.invalid").facts["nic"] is None


def test_a_checksum_is_the_file_s(tmp_path: Path):
    (tmp_path / "tool").write_bytes(b"abc")
    (tmp_path / "link").symlink_to(tmp_path / "tool")
    known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert sha256_of(str(tmp_path / "link")) == known
    assert sha256_of(str(tmp_path / "none")) is None


def test_a_score_is_work_over_time():
    class Fake:
        """Each look at the clock takes 10 ms: two rounds of work fit between two looks."""

        now = 0.0

        def __call__(self) -> float:
            self.now += 0.01
            return self.now

    score = calibrate(Fake())
    # Looks at 10, 20 … 70 ms after the first: six pieces of work in 70 ms.
    assert score["sha256_mib_s"] == pytest.approx(6 * 0.25 / 0.07, rel=0.01)
    assert score["python_msteps_s"] == pytest.approx(6 * 0.01 / 0.07, rel=0.02)
    assert score["version"] == 1
    assert score["openssl"].startswith(("OpenSSL", "LibreSSL"))


def date(seconds: float) -> str:
    from email.utils import formatdate

    return formatdate(int(seconds), usegmt=True)


@pytest.mark.parametrize("off", [0.0, 3.3, -120.7, 0.5])
def test_the_clock_offset_is_within_its_uncertainty(off: float):
    asked = []
    for number in range(10):
        sent = 1_800_000_000 + number * 0.137
        asked.append(TimeAnswer(sent, sent + 0.020, date(sent + 0.010 + off)))
    found = offset_of(asked)
    assert found is not None
    assert abs(found.offset_s - off) <= found.uncertainty_s
    assert found.uncertainty_s < 0.2
    assert found.round_trip_s == pytest.approx(0.02)


def test_a_time_to_the_microsecond_bounds_the_offset_by_the_quickest_round_trip():
    asked = [
        TimeAnswer(100.0, 100.5, "", service_s=107.4),
        TimeAnswer(101.0, 101.01, "", service_s=108.003),
        TimeAnswer(102.0, 102.2, "", service_s=109.1),
    ]
    found = offset_of(asked)
    assert found is not None
    assert abs(found.offset_s - 7.0) <= found.uncertainty_s
    assert found.uncertainty_s <= 0.005
    assert found.round_trip_s == pytest.approx(0.01)


def test_no_date_or_a_clock_that_jumped_gives_no_offset():
    assert offset_of([]) is None
    assert offset_of([TimeAnswer(0, 1, "yesterday")]) is None
    assert offset_of([TimeAnswer(0, 1, f"Sat, 21 Nov {'9' * 30} 00:01:00 GMT")]) is None
    assert offset_of([TimeAnswer(100, 100.1, date(100)), TimeAnswer(101, 101.1, date(900))]) is None
    assert offset_of([TimeAnswer(100, 100.2, date(100))]) == Offset(0.4, 0.6, 0.2)


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"])
def test_a_time_of_the_service_out_of_range_gives_no_offset(
    monkeypatch: pytest.MonkeyPatch, text: str
):
    answer = httpx.MockTransport(lambda request: httpx.Response(200, json={"time": text}))
    client = httpx.Client(transport=answer, base_url="https://x.example")
    monkeypatch.setattr(api_client, "open_client", lambda target: client)
    assert api_client.measure_offset(Target("https://x.example", "t"), times=1) is None


GOOD_FACTS = {
    "load_average_1m": 0.1,
    "ulimit_nofile_soft": 65536,
    "ip_local_port_range": "1024 65535",
    "somaxconn": "4096",
    "time_wait": 3,
    "cpu_governor": "performance",
    "cgroup_cpu_max": "max 100000",
    "cpus_allowed": 8,
    "virtualisation": "none",
}


def levels(changed: dict, needs: Needs) -> dict[str, str]:
    found = examine({**GOOD_FACTS, **changed}, 8, needs)
    assert all(each.text for each in found)
    assert all(each.advice for each in found if each.level == SPOILS)
    return {each.id: each.level for each in found}


def test_a_good_machine_has_nothing_to_be_said():
    needs = Needs(connections=64, keepalive=False, seconds=10, same_host=False, threads=2)
    assert set(levels({}, needs).values()) == {GOOD}
    assert not is_unfit(examine(GOOD_FACTS, 8, needs))


@pytest.mark.parametrize(
    ("changed", "needs", "id_", "level"),
    [
        ({"load_average_1m": 9.0}, Needs(), "load", SPOILS),
        ({"load_average_1m": 3.0}, Needs(), "load", WARNS),
        ({"ulimit_nofile_soft": 1024}, Needs(connections=1000), "open-files", SPOILS),
        ({"ulimit_nofile_soft": 1024}, Needs(connections=900), "open-files", GOOD),
        ({"ip_local_port_range": "32768 60999"}, Needs(keepalive=False), "ports", WARNS),
        ({"ip_local_port_range": "32768 60999"}, Needs(keepalive=True), "ports", GOOD),
        ({"somaxconn": "128"}, Needs(connections=1000), "backlog", WARNS),
        ({"time_wait": 20_000}, Needs(), "time-wait", WARNS),
        ({"cpu_governor": "powersave"}, Needs(), "governor", WARNS),
        ({"cgroup_cpu_max": "150000 100000"}, Needs(), "quota", WARNS),
        ({"cpus_allowed": 2}, Needs(), "quota", WARNS),
        ({"virtualisation": "kvm"}, Needs(), "virtual", WARNS),
        ({}, Needs(same_host=True), "one-machine", WARNS),
        ({}, Needs(same_host=True, threads=8), "cores", WARNS),
        ({}, Needs(seconds=1), "length", WARNS),
        *(
            ({name: None}, Needs(), id_, UNKNOWN)
            for name, id_ in (
                ("load_average_1m", "load"),
                ("ulimit_nofile_soft", "open-files"),
                ("ip_local_port_range", "ports"),
                ("somaxconn", "backlog"),
                ("time_wait", "time-wait"),
                ("cpu_governor", "governor"),
                ("virtualisation", "virtual"),
            )
        ),
    ],
)
def test_what_would_spoil_a_measurement(changed: dict, needs: Needs, id_: str, level: str):
    assert levels(changed, needs)[id_] == level
