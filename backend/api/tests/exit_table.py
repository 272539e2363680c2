"""What leaves the service in bulk: each exit with the single reads that it sums up.

An exit gives a token nothing, and a visitor nothing, that the same one could not read singly. The
table is held against the URL configuration: a route of the API or a page that can be read belongs
to one of the four groups below. docs/decisions/0070 explains them.
"""

# The single reads of results: the parts that exits sum up. Operations of the API, by their routes.
RUN, TRIAL, RAW = "run", "trial", "artefact"
COMPARISON, SET, VIEW = "compare", "result-set-list", "view-list"
ALERT, RULE = "alert", "alert-rule-list"
EVERYTHING = (RUN, TRIAL, RAW, SET, VIEW, ALERT, RULE, "merge-list", "trash-list", "host-list")
SINGLE_READS = {
    *(*EVERYTHING, COMPARISON, "run-plan", "run-progress", "run-sharing", "trial-timeline"),
    *("dismissal-list", "server-list", "workload-list", "compare-pair-api", "result-set"),
    *("result-set-changes-api", "workspace-usage", "agent-list"),
}

# Route and method → the single reads that it sums up.
API_EXITS: dict[tuple[str, str], tuple[str, ...]] = {
    # An archive of everything, its making, its progress with counts, and its bytes.
    ("export-list", "POST"): EVERYTHING,
    ("export-list", "GET"): EVERYTHING,
    ("export", "GET"): EVERYTHING,
    ("export-file-api", "GET"): EVERYTHING,
    # Tables and answers over many runs.
    ("compare-csv", "GET"): (COMPARISON,),
    ("trials-csv", "GET"): (RUN, TRIAL),
    ("trials-parquet", "GET"): (RUN, TRIAL),
    ("trial-list", "GET"): (TRIAL,),
    ("run-list", "GET"): (RUN,),
    ("facets", "GET"): (RUN, COMPARISON),
    ("gate", "GET"): (RUN, COMPARISON),
    ("alert-list", "GET"): (ALERT,),
    ("upload-list", "GET"): (RUN,),
    # What goes on leaving after the request: to readers of a feed, to receivers of a channel, to
    # everybody with a link.
    ("feed-token-list", "POST"): (RUN, SET, ALERT),
    ("channel-list", "POST"): (RUN, ALERT),
    ("delivery-list", "GET"): (RUN, ALERT),
    ("result-set-list", "POST"): (RUN, COMPARISON),
    ("result-set", "PATCH"): (SET,),
    ("run-sharing", "PATCH"): (RUN, RAW),
}

# Nothing of results, or only what its sender sent, or only what everybody may read.
NO_RESULTS = {
    *("me", "limit-list", "openapi", "api-docs", "explore-api", "shared-run"),
    *("upload", "part-list"),
    # Its words on results take runs:read as well (api/workspace/audit.py).
    "audit-list",
    *("token-list", "member-list", "invitation-list", "feed-token-list", "workspace-list"),
    *("workspace-settings-api", "channel-list", "channel-secret"),
}

# Pages and files outside the API: the row of access_rows.py of each single read. Tokens are nobody
# there, but for feed tokens, which belong to members.
PAGE_EXITS: dict[str, tuple[str, ...]] = {
    "exports-page": ("run-page", "artefact-raw", "result-set-page", "alerts-page"),
    "export-file": ("run-page", "artefact-raw", "result-set-page", "alerts-page"),
    "compare-page": ("run-page",),
    "first-comparison": ("run-page",),
    "compare-pair": ("run-page",),
    "compare-png": ("run-page", "compare-page"),
    "workspace": ("run-page", "result-set-page"),
    "runs-page": ("run-page",),
    "uploads-page": ("upload-page",),
    "trash-page": ("run-page",),
    "search": ("run-page", "result-set-page", "server-page"),
    "workspace-feed": ("run-page", "result-set-page"),
    "alerts-feed": ("alert-page",),
    "server-feed": ("run-page", "server-page"),
    "result-set-feed": ("result-set-page",),
    "result-sets-page": ("result-set-page",),
    "result-set-json": ("result-set-page",),
    "result-set-csv": ("result-set-page",),
    "result-set-png": ("result-set-page",),
    "result-set-svg": ("result-set-page",),
    "result-set-changes": ("result-set-page",),
    "embed": ("result-set-page",),
    "oembed": ("result-set-page",),
    "saved-views": ("compare-page",),
    "alerts-page": ("alert-page",),
    "servers-page": ("server-page",),
    "hosts-page": ("host-page",),
    "workloads-page": ("workload-page",),
    "agents-page": ("run-page",),
    "session-page": ("run-page",),
    "run-plan-page": ("run-page",),
    "shared-run-plan": ("shared-run-page",),
    # Of a channel the page shows what was sent.
    "channel-page": ("run-page", "alert-page"),
    # Events name runs and titles.
    "audit": ("run-page", "result-set-page"),
}
PAGE_SINGLE_READS = {
    *("run-page", "trial-page", "upload-page", "artefact-page", "artefact-raw", "alert-page"),
    *("result-set-page", "shared-run-page", "server-page", "host-page", "workload-page"),
}
# Administration, forms that change one thing, and what everybody may read.
PAGES_WITHOUT_RESULTS = {
    *("livez", "readyz", "metrics", "operator", "home", "try", "sign-in", "first-owner"),
    *("open-workspace", "workspaces", "new-workspace", "held-messages", "invitation"),
    *("members-page", "guide", "guide-page", "guide-without-slash", "library", "library-server"),
    *("workspace-without-slash", "explore", "search-everywhere", "agent-pyz", "agent-pyz-sha256"),
    *("agent-wheel", "integration-file", "tokens-page", "settings", "alert-rules-page"),
    *("channels-page", "new-upload", "edit-run", "dismissals", "revoke-token"),
    *("account-data", "report", "report-sent", "robots", "security-txt", "terms", "privacy"),
}
