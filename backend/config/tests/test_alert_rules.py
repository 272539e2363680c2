"""The rules and the dashboard for Prometheus and Grafana: each metric exists, each rule fires."""

import json
import re
import shutil
import subprocess

import pytest
import yaml
from django.conf import settings
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from backend import counters
from backend.broker import CACHE, cache_client
from backend.config.health import metrics
from backend.config.models import BackupReport, IntegrityReport
from backend.config.processes import heartbeat

DEPLOY = settings.BASE_DIR / "deploy"
RULES_FILE = DEPLOY / "prometheus" / "loadsheet.rules.yml"
RULES = [
    rule for group in yaml.safe_load(RULES_FILE.read_text())["groups"] for rule in group["rules"]
]
DASHBOARD = json.loads((DEPLOY / "grafana" / "loadsheet.json").read_text())
TARGETS = [target for panel in DASHBOARD["panels"] for target in panel["targets"]]
NAME = re.compile(r"\b(loadsheet_\w+)(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)(=~|!~|!=|=)"([^"]*)"')
GROUPING = re.compile(r"\b(?:by|without|on) \(([^)]*)\)")
# By their texts a person can tell what to do; `$__rate_interval` is Grafana's own.
EXPRESSIONS = [
    *(pytest.param(rule["expr"], id=rule["alert"]) for rule in RULES),
    *(pytest.param(target["expr"], id=f"panel-{at}") for at, target in enumerate(TARGETS)),
]
# Counters have a line for each value that occurred: any value of theirs may be asked for.
COUNTED = ("_total", "_bucket")


@pytest.fixture
def exported(db, own_storage):
    """By the name of a sample, its labels with the values of a scrape that has everything."""
    CACHE.pause(0)
    cache_client().delete(counters.KEY)
    for name, (labels, _) in metrics.COUNTERS.items():
        counters.count(name, *(f"a-{label}" for label in labels))
    for name, (labels, _) in metrics.HISTOGRAMS.items():
        counters.observe(name, 0.1, *(f"a-{label}" for label in labels))
    for part in heartbeat.SILENT_AFTER_S:
        heartbeat.record(part)
    for is_complete in (True, False):
        IntegrityReport.objects.create(seconds=1.0, is_complete=is_complete)
    BackupReport.objects.create(seconds=1.0, restore_problem="")
    text = Client(SERVER_NAME="localhost").get("/metrics").content.decode()
    read = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = read.setdefault(sample.name, {})
            for label, value in sample.labels.items():
                labels.setdefault(label, set()).add(value)
    cache_client().delete(counters.KEY)
    return read


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_metric_and_label_is_exported(exported, expression):
    used = NAME.findall(expression)
    assert used
    labels = set()
    for name, matchers in used:
        assert name in exported
        labels |= set(exported[name])
        for label, operator, value in MATCHER.findall(matchers):
            assert label in exported[name], f"{name} has no label {label}"
            if operator == "=" and not name.endswith(COUNTED):
                assert value in exported[name][label]
    for grouping in GROUPING.findall(expression):
        assert {label.strip() for label in grouping.split(",") if label.strip()} <= labels


def test_the_dashboard_shows_every_metric(exported):
    shown = {name for target in TARGETS for name, _ in NAME.findall(target["expr"])}
    parts = re.compile(r"_(?:count|sum|created)$")

    assert {name for name in exported if not parts.search(name)} == shown


def test_legends_name_labels_that_there_are(exported):
    for target in TARGETS:
        names = [name for name, _ in NAME.findall(target["expr"])]
        labels = {label for name in names for label in exported[name]}
        assert set(re.findall(r"{{(\w+)}}", target["legendFormat"])) <= labels


def test_panels_have_numbers_and_places_of_their_own():
    panels = DASHBOARD["panels"]
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels]

    assert len({panel["id"] for panel in panels}) == len(panels)
    assert len(set(places)) == len(places)
    assert all(panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24 for panel in panels)
    assert all(target["datasource"]["uid"] == "${datasource}" for target in TARGETS)
    assert DASHBOARD["templating"]["list"][0]["name"] == "datasource"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_every_rule_says_how_bad_it_is_and_where_to_read_on(rule):
    assert re.fullmatch(r"\d+[mhd]", rule["for"])
    assert rule["labels"] in ({"severity": "critical"}, {"severity": "warning"})
    assert rule["annotations"]["summary"].endswith(".")
    file, anchor = rule["annotations"]["runbook"].split("#")
    headings = re.findall(r"^#+ (.+)$", (settings.BASE_DIR / file).read_text(), re.MULTILINE)
    assert anchor in {
        re.sub("[^a-z -]", "", heading.lower()).replace(" ", "-") for heading in headings
    }


# What a service without a fault exports, as promtool writes series.
SOUND = {
    'loadsheet_info{version="1"}': "1+0x400",
    'loadsheet_requests_total{route="home",method="GET",status="200"}': "0+60x400",
    'loadsheet_requests_total{route="home",method="GET",status="503"}': "0+1x400",
    'loadsheet_request_seconds_bucket{kind="page",le="0.1"}': "0+60x400",
    'loadsheet_request_seconds_bucket{kind="page",le="10"}': "0+60x400",
    'loadsheet_request_seconds_bucket{kind="page",le="+Inf"}': "0+60x400",
    'loadsheet_heartbeat_age_seconds{part="worker"}': "5+0x400",
    'loadsheet_heartbeat_age_seconds{part="beat"}': "5+0x400",
    'loadsheet_heartbeat_age_seconds{part="canary"}': "40+0x400",
    "loadsheet_upload_queue_age_seconds": "1+0x400",
    'loadsheet_uploads_ended_total{state="quarantined"}': "2+0x400",
    "loadsheet_runs_to_judge": "3+0x400",
    "loadsheet_reports_open": "0+0x400",
    "loadsheet_delivery_queue_age_seconds": "0+0x400",
    'loadsheet_integrity_problems{checks="all"}': "0+0x400",
    'loadsheet_integrity_age_seconds{checks="all"}': "4000+0x400",
    "loadsheet_disk_free_bytes": "100000000000+0x400",
    'loadsheet_workspaces_near_limit{limit="members",state="reached"}': "0+0x400",
    'loadsheet_workspaces_near_limit{limit="members",state="near"}': "4+0x400",
    "loadsheet_backup_age_seconds": "80000+0x400",
    "loadsheet_backup_restored_age_seconds": "600000+0x400",
    "loadsheet_backup_restore_problem": "0+0x400",
}
NONE = "_x400"
# By the rule: what differs when it must fire. None: the series is gone.
FAULTS = {
    "LoadsheetFails": {
        'loadsheet_requests_total{route="home",method="GET",status="503"}': "0+2x400"
    },
    "LoadsheetIsSlow": {
        'loadsheet_request_seconds_bucket{kind="page",le="0.1"}': "0+50x400",
    },
    "LoadsheetNoWorker": {'loadsheet_heartbeat_age_seconds{part="worker"}': "70+0x400"},
    "LoadsheetNoBeat": {'loadsheet_heartbeat_age_seconds{part="beat"}': NONE},
    "LoadsheetNoTasks": {'loadsheet_heartbeat_age_seconds{part="canary"}': "101+0x400"},
    "LoadsheetUploadsWait": {"loadsheet_upload_queue_age_seconds": "601+0x400"},
    "LoadsheetUploadsQuarantined": {
        'loadsheet_uploads_ended_total{state="quarantined"}': "2+0x369 3+0x30"
    },
    "LoadsheetRunsWait": {"loadsheet_runs_to_judge": "1001+0x400"},
    "LoadsheetReportsWait": {"loadsheet_reports_open": "1+0x400"},
    "LoadsheetMessagesWait": {"loadsheet_delivery_queue_age_seconds": "1801+0x400"},
    "LoadsheetDataMissing": {'loadsheet_integrity_problems{checks="all"}': "1+0x400"},
    "LoadsheetNotChecked": {'loadsheet_integrity_age_seconds{checks="all"}': "172801+0x400"},
    "LoadsheetDiskFills": {"loadsheet_disk_free_bytes": "100000000000-70000000x400"},
    "LoadsheetDiskShort": {"loadsheet_disk_free_bytes": "1000000000+0x400"},
    "LoadsheetWorkspaceAtLimit": {
        'loadsheet_workspaces_near_limit{limit="members",state="reached"}': "1+0x400"
    },
    "LoadsheetBackupOld": {"loadsheet_backup_age_seconds": "172801+0x400"},
    "LoadsheetNoBackup": {"loadsheet_backup_age_seconds": NONE},
    "LoadsheetBackupNotRestored": {"loadsheet_backup_restore_problem": "1+0x400"},
    "LoadsheetBackupUntried": {"loadsheet_backup_restored_age_seconds": "1209601+0x400"},
}


def promtool(*words):
    program = shutil.which("promtool")
    if program is None:
        pytest.skip("promtool is not installed; it is in Debian's package prometheus")
    done = subprocess.run(
        [program, *map(str, words)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr


def firing(series, alerts):
    """A test of promtool: with these series, these alerts and no others fire."""
    samples = [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in alerts]
    check = {
        "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
        # The rule for no backup waits for six hours; quarantine shows for an hour.
        "eval_time": "380m",
        "exp_samples": samples,
    }
    return {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "promql_expr_test": [check],
    }


@pytest.mark.processes
def test_prometheus_takes_the_files():
    promtool("check", "rules", RULES_FILE)
    promtool("check", "config", "--syntax-only", DEPLOY / "prometheus" / "prometheus.yml")


@pytest.mark.processes
def test_each_rule_fires_for_its_fault_and_for_no_other(tmp_path):
    assert set(FAULTS) == {rule["alert"] for rule in RULES} - {"LoadsheetDown"}
    tests = [firing(SOUND, []), firing({}, ["LoadsheetDown"])]
    tests += [firing({**SOUND, **fault}, [name]) for name, fault in FAULTS.items()]
    file = tmp_path / "test.yml"
    content = {"rule_files": [str(RULES_FILE)], "evaluation_interval": "1m", "tests": tests}
    file.write_text(yaml.safe_dump(content, sort_keys=False))

    promtool("test", "rules", file)
