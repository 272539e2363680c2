"""Plans made of parts: files, defaults, variables, matrices, the shelf and the short form."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from loadsheet_agent.errors import PlanError
from loadsheet_agent.plan.expansion import count_starts, expand, expand_most
from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.plan.reading import parse_plan, read_plan
from loadsheet_agent.plan.sources import tomllib

SERVER = '[[servers]]\nname = "a"\nurl = "http://127.0.0.1:{port}"\nstart = ["x", "{port}"]\n'
WORKLOAD = '[[workloads]]\nname = "hello"\n'


def parse(text: str, directory: Path = Path("/")) -> Plan:
    return parse_plan(text, name="plan.toml", directory=directory, environ={})


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A shelf with one server in two versions, and one that cannot be had."""
    folder = tmp_path / "shelf" / "tornado"
    (folder / "versions").mkdir(parents=True)
    (folder / "app").mkdir()
    (folder / "app" / "hello.py").write_text("print('hello')\n")
    (folder / "server.toml").write_text(
        'title = "Tornado"\nstyle = "event loop"\nlanguage = "Python"\nlicence = "Apache 2.0"\n'
        'serves = ["/"]\n[server]\nurl = "http://127.0.0.1:{port}"\nbacklog = 128\n'
        'start = ["{python}", "{shelf}/app/hello.py", "{apps}", "{backlog}"]\n'
        "[server.configuration]\nloop = 'select'\n"
    )
    (folder / "versions" / "0.2.toml").write_text('[server]\nversion = "0.2"\n')
    (folder / "versions" / "current.toml").write_text(
        '[server]\nversion = "6.5"\nconfiguration = { loop = "asyncio" }\n'
        'interpreter = "3.11"\npackages = ["tornado==6.5"]\n'
    )
    (folder / "versions" / "current.lock").write_text("tornado==6.5 --hash=sha256:00\n")
    lost = tmp_path / "shelf" / "lost"
    lost.mkdir()
    (lost / "unavailable.toml").write_text('title = "Lost"\nreason = "It is in no registry."\n')
    (tmp_path / "shelf" / "_apps").mkdir()
    return tmp_path


def test_a_matrix_makes_a_server_of_each_combination_under_one_name():
    server = SERVER.replace('"x"', '"x", "{workers}"')
    plan = parse(
        server + 'matrix = { version = ["1", "2"], workers = [1, 4], loop = ["fast"] }\n' + WORKLOAD
    )
    assert {server.name for server in plan.servers} == {"a"}
    assert [(server.version, server.workers) for server in plan.servers] == [
        ("1", 1),
        ("1", 4),
        ("2", 1),
        ("2", 4),
    ]
    assert plan.servers[1].label == "a (version 1, workers 4, loop fast)"
    assert plan.servers[1].recorded_configuration == {"workers": 4, "loop": "fast"}
    assert len({step.key for step in expand(plan)}) == 4 * 3 * 3


def test_a_value_of_a_matrix_is_a_word_in_every_text_of_its_server():
    plan = parse(
        SERVER.replace('"x"', '"x-{loop}"') + 'matrix = { loop = ["a", "b"] }\n' + WORKLOAD
    )
    assert [server.start[0] for server in plan.servers] == ["x-a", "x-b"]


def test_interpreters_of_a_matrix_are_told_apart_by_the_runtime():
    server = SERVER.replace('"x"', '"{interpreter}"')
    text = 'matrix = { interpreter = ["3.11", "pypy3"] }\n'
    plan = parse(server + text + WORKLOAD)
    # The path of the program, which is known once it is found.
    assert [server.start[0] for server in plan.servers] == ["{interpreter}"] * 2
    assert [(server.interpreter, server.runtime) for server in plan.servers] == [
        ("3.11", "Python {interpreter_version}"),
        ("pypy3", "pypy3 {interpreter_version}"),
    ]
    named = parse(server + 'runtime = "CPython"\n' + text + WORKLOAD)
    assert {server.runtime for server in named.servers} == {"CPython"}
    assert [server.recorded_configuration for server in named.servers] == [
        {"interpreter": "3.11"},
        {"interpreter": "pypy3"},
    ]


def test_no_two_combinations_of_a_matrix_are_recorded_as_one_server():
    plan = parse(
        SERVER
        + "matrix = { cpus = [[0], [0, 1]], environment = [{ A = '1' }], fast = [true] }\n"
        + WORKLOAD
    )
    assert [server.cpus for server in plan.servers] == [(0,), (0, 1)]
    assert [server.recorded_configuration for server in plan.servers] == [
        {"cpus": "0", "environment": "A=1", "fast": True},
        {"cpus": "0 1", "environment": "A=1", "fast": True},
    ]


def test_other_values_of_a_matrix_join_its_configurations():
    plan = parse(
        SERVER + "matrix = { configuration = [{ A = '1' }], fast = [true, false] }\n" + WORKLOAD
    )
    assert [server.recorded_configuration for server in plan.servers] == [
        {"A": "1", "fast": True},
        {"A": "1", "fast": False},
    ]


def test_a_load_in_a_matrix_is_no_configuration_of_the_server():
    plan = parse(SERVER + "matrix = { load = [{ duration_s = 3 }] }\n" + WORKLOAD)
    assert [server.recorded_configuration for server in plan.servers] == [{}]
    assert [server.load.duration_s for server in plan.servers] == [3]


def test_a_number_that_the_start_does_not_use_is_no_configuration():
    keys = "workers = 3\nbacklog = 9\n"
    (server,) = parse(SERVER.replace('"x"', '"x", "{backlog}"') + keys + WORKLOAD).servers
    assert server.recorded_configuration == {"backlog": 9}
    running = '[[servers]]\nname = "a"\nurl = "http://h"\n'
    (server,) = parse(running + keys + WORKLOAD).servers
    assert server.recorded_configuration == {"workers": 3, "backlog": 9}


def test_servers_come_from_the_shelf_in_the_named_versions(shelf: Path):
    plan = parse('shelf = "shelf"\nuse = ["tornado@0.2,current"]\n' + WORKLOAD, shelf)
    old, current = plan.servers
    assert (old.version, current.version) == ("0.2", "6.5")
    assert (old.label, current.label) == ("tornado@0.2", "tornado@current")
    assert old.name == current.name == "Tornado"
    assert old.configuration == {"loop": "select"}
    assert current.configuration == {"loop": "asyncio"}
    assert old.start[1] == str(shelf / "shelf" / "tornado" / "app" / "hello.py")
    assert old.start[2] == str(shelf / "shelf" / "_apps")
    assert (old.lock, current.lock) == (
        None,
        str(shelf / "shelf" / "tornado" / "versions" / "current.lock"),
    )


def test_keys_of_the_plan_replace_those_of_the_shelf(shelf: Path):
    text = (
        'shelf = "shelf"\n[server_defaults]\nbacklog = 511\nready_timeout_s = 9\n'
        '[[servers]]\nuse = "tornado"\nready_timeout_s = 3\n' + WORKLOAD
    )
    (server,) = parse(text, shelf).servers
    assert (server.backlog, server.ready_timeout_s) == (511, 3)


def test_the_recorded_plan_has_the_files_it_used_and_is_still_a_plan(shelf: Path):
    plan = parse('shelf = "shelf"\nuse = ["tornado"]\n' + WORKLOAD, shelf)
    assert "# ---- tornado/server.toml" in plan.text
    assert '# version = "6.5"' in plan.text
    assert "  tornado/app/hello.py\n" in plan.text
    assert tomllib.loads(plan.text)["use"] == ["tornado"]
    before = plan.sha256
    (shelf / "shelf" / "tornado" / "app" / "hello.py").write_text("print('other')\n")
    after = parse('shelf = "shelf"\nuse = ["tornado"]\n' + WORKLOAD, shelf).sha256
    assert before != after


def test_a_server_that_cannot_be_had_is_in_the_plan_with_its_reason(shelf: Path):
    (server,) = parse('shelf = "shelf"\nuse = ["lost"]\n' + WORKLOAD, shelf).servers
    assert (server.name, server.unavailable) == ("Lost", "It is in no registry.")


def test_included_files_add_tables_and_the_plan_replaces_their_keys(tmp_path: Path):
    (tmp_path / "common.toml").write_text("repeats = 7\n[load]\nduration_s = 2\n" + SERVER)
    (tmp_path / "plan.toml").write_text(
        'include = ["common.toml"]\n[load]\nconnections = [4]\n'
        + SERVER.replace('"a"', '"b"')
        + WORKLOAD
    )
    plan = read_plan(tmp_path / "plan.toml")
    assert [server.name for server in plan.servers] == ["a", "b"]
    assert (plan.repeats, plan.load.duration_s, plan.load.connections) == (7, 2, (4,))
    assert "# ---- common.toml" in plan.text


def test_variables_stand_for_texts_everywhere():
    plan = parse('[variables]\npage = "/x"\n' + SERVER + WORKLOAD + 'path = "{page}?a"\n')
    assert plan.workloads[0].path == "/x?a"


def test_the_short_form_replaces_keys_and_is_recorded(tmp_path: Path):
    path = tmp_path / "plan.toml"
    path.write_text(
        "repeats = 10\n[short]\nrepeats = 1\nload = { connections = [2] }\n[load]\n"
        "connections = [1, 2, 4]\nduration_s = 5\n" + SERVER + WORKLOAD
    )
    full, short = read_plan(path), read_plan(path, is_short=True)
    assert (full.repeats, short.repeats) == (10, 1)
    assert (short.load.connections, short.load.duration_s) == ((2,), 5)
    assert full.sha256 != short.sha256
    assert parse(short.text).repeats == 1


@pytest.mark.parametrize(
    ("full", "short"), [("requests", "duration_s"), ("duration_s", "requests")]
)
def test_the_short_form_may_measure_trials_by_the_other_length(
    tmp_path: Path, full: str, short: str
):
    path = tmp_path / "plan.toml"
    path.write_text(f"[short]\nload = {{ {short} = 7 }}\n[load]\n{full} = 5\n" + SERVER + WORKLOAD)
    load = read_plan(path, is_short=True).load
    assert (getattr(load, short), getattr(load, full)) == (7, None)


def test_workload_defaults_fill_what_a_workload_leaves_out():
    plan = parse(
        "[workload_defaults]\nkeepalive = false\n"
        + SERVER
        + WORKLOAD
        + '[[workloads]]\nname = "b"\n'
        "keepalive = true\n"
    )
    assert [workload.keepalive for workload in plan.workloads] == [False, True]


def test_a_server_may_have_its_own_workloads_paths_and_loads():
    plan = parse(
        "repeats = 1\n[load]\nconnections = [1, 2]\n"
        + SERVER
        + 'workloads = ["json"]\npaths = { json = "/j.php" }\n'
        "load = { connections = [2, 9], duration_s = 3 }\n"
        + SERVER.replace('"a"', '"b"')
        + WORKLOAD
        + '[[workloads]]\nname = "json"\npath = "/json"\n'
    )
    points = Counter(
        (step.server.name, step.workload.name, step.workload.path, step.connections)
        for step in expand(plan)
    )
    assert points == {
        ("a", "json", "/j.php", 2): 1,
        ("a", "json", "/j.php", 9): 1,
        ("b", "hello", "/", 1): 1,
        ("b", "hello", "/", 2): 1,
        ("b", "json", "/json", 1): 1,
        ("b", "json", "/json", 2): 1,
    }
    assert {step.duration_s for step in expand(plan) if step.server.name == "a"} == {3}


def test_more_than_two_started_servers_run_one_at_a_time():
    three = "".join(SERVER.replace('"a"', f'"{name}"') for name in "abc") + WORKLOAD
    one_load = "warmup_s = 1\nrepeats = 2\n[load]\nconnections = [1]\nduration_s = 1\n"
    plan = parse(one_load + three)
    assert plan.is_one_alive
    assert not parse('alive = "all"\n' + three).is_one_alive
    assert not parse(SERVER + WORKLOAD).is_one_alive
    # The second round begins with the server that ended the first: it is still running.
    steps = expand(plan)
    assert [step.is_warmup for step in steps] == [True, False] * 3 + [False] + [True, False] * 2
    assert sum(count_starts(plan, steps).values()) == 5
    assert sum(count_starts(parse('alive = "all"\n' + one_load + three), steps).values()) == 3
    each_trial = count_starts(parse('restart = "each-trial"\n' + one_load + three), steps)
    assert sum(each_trial.values()) == 6


def test_warm_ups_until_stable_are_counted_from_fewest_to_most():
    plan = parse(
        "warmup_s = 1\nrepeats = 1\n[steady]\nmost = 6\n[load]\nconnections = [1]\n"
        + SERVER
        + WORKLOAD
    )
    assert (len(expand(plan)), len(expand_most(plan))) == (4, 7)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('use = ["nginx"]\n', "no server 'nginx' is on the shelf; it has lost, tornado"),
        ('use = ["tornado@7"]\n', "has no version '7' on the shelf; it has 0.2, current"),
        ('[[servers]]\nuse = "tornado"\nworkrs = 1\n', "did you mean workers?"),
        ('use = ["tornado"]\nshelf = "none"\n', "is missing; give its folder"),
        (SERVER + "matrix = { workers = 1 }\n", "matrix.workers is 1; expected a list of values"),
        (SERVER + 'services = ["db"]\n', "needs the service 'db'; add its [[services]]"),
        (SERVER + 'workloads = ["x"]\n', "names the workload 'x'; expected one of hello"),
        (SERVER + 'paths = { hello = "x" }\n', "paths.hello is 'x'; write a path"),
        (SERVER + 'packages = ["a"]\n', "packages are given but no interpreter"),
        (SERVER + 'interpreter = "3.11"\npackages = ["a"]\n', "give each its exact version"),
        (SERVER + 'templates = { "../x" = "y" }\n', "give the name of a file"),
        (SERVER + "ulimit = { files = 3 }\n", "expected one of nofile"),
        (SERVER + "load = { rates = [5] }\n", "they need connections = [N] in [load]"),
        ('include = ["none.toml"]\n' + SERVER, "none.toml cannot be read"),
        ('variables = { port = "1" }\n' + SERVER, "cannot be the name of a variable"),
        ("[steady]\n" + SERVER, "[steady] repeats warm-ups, and there are none"),
        ('[[services]]\nname = "db"\n' + SERVER, "start is missing; a service is started"),
        (SERVER.replace("start", "#") + "cpus = [0]\n", "url has {port} but there is no start"),
    ],
)
def test_a_mistake_in_a_part_is_one_sentence(text: str, sentence: str, shelf: Path):
    head = "" if "shelf =" in text else 'shelf = "shelf"\n'
    with pytest.raises(PlanError) as caught:
        parse(head + text + WORKLOAD, shelf)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_includes_itself_is_refused(tmp_path: Path):
    (tmp_path / "a.toml").write_text('include = ["a.toml"]\n')
    with pytest.raises(PlanError, match="includes itself"):
        parse('include = ["a.toml"]\n' + SERVER + WORKLOAD, tmp_path)
