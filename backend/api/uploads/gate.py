"""GET /api/v1/gate: whether a candidate keeps the requirements of a build."""

from drf_spectacular.utils import OpenApiParameter
from msgspec import to_builtins
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from backend.analysis.judge.history import MAY_DIFFER
from backend.analysis.judge.requirements import FIELD, read_requirements
from backend.analysis.pages.gate.answer import Gate
from backend.analysis.pages.gate.describe import GateQuery, judge_build
from backend.analysis.pages.gate.expected import FIELD as EXPECTED_FIELD
from backend.analysis.pages.gate.expected import read_expected
from backend.analysis.pages.gate.sides import read_side
from backend.analysis.query.compare_query import CompareQuery, QueryError, UnknownField
from backend.api.protocol.auth import viewer_name
from backend.api.protocol.paging import ONLY_WORKSPACE
from backend.api.protocol.parameters import names_of_arrays
from backend.api.protocol.schema import operation
from backend.api.runs.runs import workspaces_asked
from backend.stats.sequential import MOST_RUNS
from backend.whole_numbers import whole_number

SIDES = ("candidate", "baseline")
NARROWING = ("server", "workload", "tool", "host", "connections", "rate")
MOST_RUNS_FIELD = "most_runs"
FIELDS = (*SIDES, FIELD, *NARROWING, EXPECTED_FIELD, "may_differ", MOST_RUNS_FIELD, "workspace")
_FORMS = "`run=ID`, `version=TEXT`, `label=KEY:VALUE`, or the name of a branch (`label=branch:…`)"
PARAMETERS = [
    OpenApiParameter(
        "candidate",
        str,
        required=True,
        many=True,
        description=f"What was built: {_FORMS}; several `run=ID` count together",
    ),
    OpenApiParameter(
        "baseline",
        str,
        required=True,
        many=True,
        description=f"What it is compared with: {_FORMS}. For a label, the newest 30 runs before "
        "the candidate",
    ),
    OpenApiParameter(
        FIELD,
        str,
        required=True,
        many=True,
        description="A requirement: `p99 < +5%`, `throughput > -3%`, `error_rate < 1%`, "
        "`p99 < 20ms`",
    ),
    *(
        OpenApiParameter(name, str, many=True, description=f"Judge only this {name}")
        for name in NARROWING
    ),
    OpenApiParameter(
        EXPECTED_FIELD,
        str,
        many=True,
        description="A series that must be judged: `SERVER:WORKLOAD`, by their names. The build is "
        "not_comparable where the candidate or the baseline lacks it",
    ),
    OpenApiParameter(
        "may_differ",
        str,
        many=True,
        enum=sorted(MAY_DIFFER),
        description="What need not be the same on both sides. Without it, a candidate is never "
        "held against other machines or another load tool",
    ),
    OpenApiParameter(
        MOST_RUNS_FIELD,
        int,
        default=1,
        description=f"The most runs that the candidate may get (1 to {MOST_RUNS}), if you measure "
        "it again and ask after each run while the verdict is too_noisy. The intervals of "
        "all these answers hold together at 95 %. Give the same number each time",
    ),
    ONLY_WORKSPACE,
]


class GateCheck(APIView):
    arrays = names_of_arrays(PARAMETERS)

    @operation("gate", (401, 404, 409), answer=Gate, parameters=PARAMETERS)
    def get(self, request: Request) -> Response:
        """One verdict for a build: regressed, not_comparable, too_noisy, improved or unchanged.

        Each requirement is judged for each series of the candidate at each of its loads, against
        the noise that the runs of the baseline show. A build without a change is called regressed
        in at most 5 % of answers; with `most_runs`, at most 5 % of such builds are called
        regressed in any of their answers. Too few trials for an interval are too_noisy as well:
        `verdict_text` tells them apart.
        """
        workspace_ids = workspaces_asked(request)
        verdict = judge_build(
            _asked(request), workspace_ids=workspace_ids, viewer=viewer_name(request)
        )
        return Response(to_builtins(verdict))


def _asked(request: Request) -> GateQuery:
    """Raises QueryError."""
    given = request.query_params
    for name in given:
        if name not in FIELDS:
            raise UnknownField(name, FIELDS)
    may_differ = frozenset(given.getlist("may_differ"))
    if unknown := sorted(may_differ - MAY_DIFFER.keys()):
        raise QueryError("may_differ", unknown[0], " or ".join(sorted(MAY_DIFFER)))
    most_runs = whole_number(given.get(MOST_RUNS_FIELD, "1"), range(1, MOST_RUNS + 1))
    if most_runs is None:
        raise QueryError(MOST_RUNS_FIELD, given[MOST_RUNS_FIELD], f"1 to {MOST_RUNS}")
    candidate, baseline = (read_side(name, given.getlist(name)) for name in SIDES)
    return GateQuery(
        candidate=candidate,
        baseline=baseline,
        requirements=read_requirements(given.getlist(FIELD)),
        narrow=CompareQuery.parse({name: given.getlist(name) for name in NARROWING}),
        may_differ=may_differ,
        most_runs=most_runs,
        expected=read_expected(given.getlist(EXPECTED_FIELD)),
    )
