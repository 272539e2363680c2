"""The schema and the template of plans agree with what reading a plan accepts."""

from __future__ import annotations

import dataclasses
import re
from importlib.resources import files

import pytest
from plan_texts import DEMO, SEARCH, SERVER, WORKLOAD, parse

from loadsheet_agent.plan.schema import plan_schema, schema_text
from loadsheet_agent.plan.sources import tomllib
from loadsheet_agent.tools import TOOLS

SCHEMA = plan_schema()
TEMPLATE = (files("loadsheet_agent") / "plan.template.toml").read_text(encoding="utf-8")
FULL = (
    """
order = "randomised"
[load]
connections = [4]
[adaptive]
[abort]
"""
    + WORKLOAD
)


def properties(name: str) -> dict:
    part = SCHEMA["properties"][name] if name else SCHEMA
    return part.get("items", part)["properties"]


def test_the_schema_file_is_made_of_the_records():
    stored = (files("loadsheet_agent") / "plan.schema.json").read_text(encoding="utf-8")
    assert stored == schema_text()


def test_the_schema_has_the_defaults_that_reading_fills_in():
    assert properties("load")["tool"]["enum"] == ["auto", *TOOLS]
    plan = parse(SERVER + WORKLOAD)
    for name, value in vars(plan).items():
        assert properties("").get(name, {}).get("default", value) == value
    load = dataclasses.replace(plan.load, connections=list(plan.load.connections))
    for name, value in vars(load).items():
        assert properties("load")[name].get("default", value) == value


def test_template_and_demo_keep_to_the_schema():
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for text in (TEMPLATE, DEMO.read_text(), FULL + SERVER, SEARCH + WORKLOAD + SERVER):
        jsonschema.validate(tomllib.loads(text), SCHEMA)
    for wrong in ("repeats = 0\n", "repeat = 3\n", 'order = "random"\n'):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(tomllib.loads(wrong + SERVER + WORKLOAD), SCHEMA)


def test_the_template_is_a_plan_and_so_is_each_line_it_has_commented_out():
    assert parse(TEMPLATE).repeats == 5
    line = re.compile(
        r"^# (\w+ = (?:[\d.]+|true|\[.*\]|\".*\"|\{.*\})|\[\w+\])(\s+#.*)?$", re.MULTILINE
    )
    offered = {match.split(" ")[0].strip("[]") for match, _ in line.findall(TEMPLATE)}
    known = {
        key
        for name in ("", "load", "adaptive", "max_rate", "steady", "abort", "services")
        for key in properties(name)
    }
    known |= {*properties("servers"), *properties("workloads")}
    assert offered <= known
    written = set(re.findall(r"^(?:# )?(\w+) =", TEMPLATE, re.MULTILINE)) | offered
    assert known - written - {
        "labels",
        "load",
        "abort",
        "workloads",
        "servers",
        "configuration",
    } <= {
        "version_command",
        "requests",
        "body_file",
        "adaptive",
        "max_rate",
        "steady",
    }
