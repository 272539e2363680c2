"""The JSON Schema of plans, for editors. `scripts/fix` writes it to `plan.schema.json`."""

from __future__ import annotations

import json
import sys

from loadsheet_agent.plan.keys import Schema
from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.plan.toml_table import table_schema


def plan_schema() -> Schema:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Loadsheet plan",
        "description": Plan.__doc__,
        **table_schema(Plan),
    }


def schema_text() -> str:
    """The JSON Schema as the text of `plan.schema.json`."""
    return json.dumps(plan_schema(), indent=2) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
