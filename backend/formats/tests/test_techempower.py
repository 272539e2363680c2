"""Raw files of TechEmpower: each output below its head, warm-ups told from what counts."""

import pytest

from backend.formats import FormatError, RawArtefact, parse

RULE = "-" * 57
NOISE = f"Welcome to Ubuntu\n\n{RULE}\n  System load: 0.21\n"


def head(title, connections):
    command = f" wrk -H 'Connection: keep-alive' -d 15 -c {connections} -t 8 http://h:8080/db/2"
    return f"{RULE}\n {title}\n{command}\n{RULE}\n"


def output(connections, requests):
    return (
        f"\nRunning 15s test @ http://h:8080/db/2\n  8 threads and {connections} connections\n"
        "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n"
        "    Latency     1.20ms  624.28us  18.56ms   91.04%\n"
        "    Req/Sec    27.75k     2.25k   40.00k    69.71%\n"
        f"  {requests} requests in 15.00s, 1.00MB read\n"
        f"Requests/sec: {requests / 15:.2f}\nTransfer/sec:      0.07MB\n\n"
    )


RAW = NOISE + "".join(
    [
        head("Running Primer netty", 8) + output(8, 10),
        head("Running Warmup netty", 256) + output(256, 20),
        head("Concurrency: 8 for netty", 8) + output(8, 1500),
        head("Concurrency: 16 for netty", 16) + output(16, 3000),
    ]
)


def read(*files):
    return parse([RawArtefact.of(name, text.encode()) for name, text in files])


def test_the_head_says_server_command_and_warm_up():
    entries = read(("raw", RAW))
    assert [entry.requests_completed for entry in entries] == [10, 20, 1500, 3000]
    assert [entry.is_warmup for entry in entries] == [True, True, False, False]
    assert {entry.server["name"] for entry in entries} == {"netty"}
    assert all(entry.command.startswith("wrk -H 'Connection: keep-alive'") for entry in entries)
    lines = RAW.splitlines()
    assert [lines[entry.lines[0]].strip() for entry in entries] == [
        "Running Primer netty",
        "Running Warmup netty",
        "Concurrency: 8 for netty",
        "Concurrency: 16 for netty",
    ]


@pytest.mark.parametrize(
    ("path", "workload"),
    [
        ("results/json/netty/raw", {"name": "json", "keepalive": True}),
        ("raw", {"keepalive": True}),
        ("json/netty/raw.txt", {"keepalive": True}),
    ],
)
def test_the_path_says_the_test(path, workload):
    assert [entry.workload for entry in read((path, RAW))] == [workload] * 4


def test_the_number_of_queries_is_a_workload_of_its_own():
    (only,) = read(("query/netty/raw", head("Queries: 5 for netty", 256) + output(256, 100)))
    assert only.workload["name"] == "query, 5 queries"


def test_a_head_without_an_output_gives_no_trial():
    text = head("Concurrency: 8 for a b", 8) + "\n" + head("Concurrency: 16 for a b", 16)
    (only,) = read(("raw", text + output(16, 100)))
    assert (only.connections, only.server) == (16, {"name": "a b"})


def test_an_output_that_is_cut_off_is_refused_and_the_others_are_read():
    entries = read(("raw", RAW.replace("  1500 requests in 15.00s, 1.00MB read\n", "")))
    assert [isinstance(entry, FormatError) for entry in entries] == [False, False, True, False]


def test_rules_without_heads_change_nothing():
    (plain,) = read(("raw", f"{RULE}\nnotes\n{RULE}\n{output(8, 1500)}"))
    assert (plain.requests_completed, plain.server, plain.is_warmup) == (1500, {}, False)
