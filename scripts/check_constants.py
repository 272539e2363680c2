"""frontend/src/api/constants.ts has the facts of the Python tables; `--write` makes it so."""

import json
import sys
from pathlib import Path

from backend.analysis.grouping.measures import RANGE_OF_UNLIKE
from backend.analysis.query.field_table import TABLE
from backend.formats.model import ERROR_CLASSES
from backend.runs.checks.check import SEVERITIES
from backend.stats.changes import LEAST_POSITIONS
from backend.stats.thresholds import HIGH_ERROR_RATE

KEPT = Path(__file__).resolve().parent.parent / "frontend" / "src" / "api" / "constants.ts"
HEAD = "// Made by scripts/check_constants.py: run scripts/fix.\n"


def main() -> None:
    made = HEAD + "".join(
        (
            constant("ERROR_CLASSES", ERROR_CLASSES, "Why an attempt failed."),
            constant(
                "ORDERED_FIELDS",
                [field.id for field in TABLE if field.is_axis and field.is_ordered],
                "Fields whose values have an order that a line may follow.",
            ),
            constant("SEVERITIES", SEVERITIES, "How bad what a check found is, the worst first."),
            constant(
                "HIGH_ERROR_RATE",
                HIGH_ERROR_RATE,
                "Above this share of failed attempts a point is not ranked.",
            ),
            constant(
                "RANGE_OF_UNLIKE",
                RANGE_OF_UNLIKE,
                "What low and high of a figure are where its trials have no level in common.",
            ),
            constant(
                "LEAST_POSITIONS",
                LEAST_POSITIONS,
                "In fewer versions or dates no change is looked for.",
            ),
        )
    )
    if "--write" in sys.argv:
        KEPT.write_text(made)
    elif not KEPT.exists() or KEPT.read_text() != made:
        sys.exit("frontend/src/api/constants.ts is stale: run scripts/fix")


def constant(name: str, value: object, comment: str) -> str:
    return f"\n/** {comment} */\nexport const {name} = {json.dumps(value)} as const;\n"


main()
