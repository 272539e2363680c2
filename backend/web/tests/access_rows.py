"""What each kind of visitor gets from each route of the site: the matrix of test_access.py."""

from backend.web.tests.access_statuses import (
    EVERYONE,
    LED_ON,
    MEMBERS_API,
    MEMBERS_PAGE,
    NOBODY,
    NOTHING_SAID,
    OWNERS_FORM,
    OWNERS_PAGE,
    SIGNED_IN_API,
    SIGNED_IN_PAGE,
    WRITERS_API,
    WRITERS_DELETE,
    WRITERS_PAGE,
    Row,
    expected,
)

NEW_NAME = {"name": "another"}
INTO = {"into": "other-server"}
REFUSED_WRITERS = expected(404, 404, 404, 400, 404, 404)
FREEZE = {"query": "run={run}", "title": "A title", "visibility": "private"}

ROWS = {
    "livez": Row("/livez", EVERYONE),
    "readyz": Row("/readyz", EVERYONE),
    "home": Row("/", EVERYONE),
    "try": Row("/try", EVERYONE),
    "robots": Row("/robots.txt", EVERYONE),
    # The operator gave neither a contact nor texts.
    "security-txt": Row("/.well-known/security.txt", NOBODY),
    "terms": Row("/terms", NOBODY),
    "privacy": Row("/privacy", NOBODY),
    # Nothing of the workspace is public: there is nothing to report, for members neither.
    "report": Row("/report?page=/s/{private}", NOBODY),
    # Nothing was reported.
    "report-sent": Row("/report/00000000-0000-0000-0000-000000000009/sent", NOBODY),
    "account-data": Row("/account/data", SIGNED_IN_PAGE),
    "account-export": Row("/account/data/export", SIGNED_IN_PAGE, "post"),
    # 400: the name was not typed.
    "erase-account": Row("/account/erase", expected(302, 400, 400, 400, 302, 302), "post"),
    "sign-in": Row("/sign-in/nonsense", expected(410, 302, 302, 302, 410, 410)),
    "first-owner": Row("/first-owner/nonsense", expected(410, 410, 410, 410, 410, 410)),
    "open-workspace": Row("/shared/nonsense", NOBODY),
    "make-workspace-link": Row("/w/own-lab/link", OWNERS_PAGE, "post"),
    "revoke-workspace-link": Row("/w/own-lab/link/revoke", OWNERS_FORM, "post"),
    "workspaces": Row("/workspaces", SIGNED_IN_PAGE),
    "new-workspace": Row("/new-workspace", SIGNED_IN_PAGE),
    # For the operator of the service alone.
    "held-messages": Row("/messages", NOBODY),
    "invitation": Row("/invitations/nonsense", expected(410, 410, 410, 410, 410, 410)),
    "join": Row("/invitations/nonsense/join", expected(302, 410, 410, 410, 302, 302), "post"),
    "members-page": Row("/w/own-lab/members", MEMBERS_PAGE),
    "change-role": Row("/w/own-lab/members/{viewer}/role", OWNERS_FORM, "post", {"role": "member"}),
    # Whoever is a member may leave, but not remove another; the others see no member.
    "remove-member": Row(
        "/w/own-lab/members/{owner}/remove", expected(404, 404, 409, 409, 404, 404), "post"
    ),
    "revoke-invitation": Row("/w/own-lab/invitations/{invitation}/revoke", OWNERS_FORM, "post"),
    "delete-workspace": Row("/w/own-lab/delete", OWNERS_FORM, "post", {"confirm": "own-lab"}),
    "rename-workspace": Row("/w/own-lab/rename", OWNERS_FORM, "post", NEW_NAME),
    "guide": Row("/docs/", EVERYONE),
    "guide-page": Row("/docs/checks", EVERYONE),
    "library": Row("/library/", EVERYONE),
    "library-server": Row("/library/servers/tornado", EVERYONE),
    "workspace": Row("/w/own-lab/", MEMBERS_PAGE),
    # The page that they lead to decides who reads it.
    "workspace-without-slash": Row("/w/own-lab", LED_ON),
    "guide-without-slash": Row("/docs", LED_ON),
    "compare-page": Row("/w/own-lab/compare", MEMBERS_PAGE),
    "first-comparison": Row("/w/own-lab/compare/first", expected(404, 404, 302, 302, 404, 404)),
    # Allowed in, a viewer learns that a run is no pair with itself.
    "compare-pair": Row(
        "/w/own-lab/compare/pair?a={run}&b={run}", expected(404, 404, 400, 400, 404, 404)
    ),
    "compare-pair-api": Row(
        "/api/v1/compare/pair?a={run}&b={run}", expected(401, 404, 400, 400, 400, 404)
    ),
    "saved-views": Row("/w/own-lab/views", MEMBERS_PAGE),
    "save-view": Row("/w/own-lab/views/new", WRITERS_PAGE, "post", {"name": "A name"}),
    "edit-view": Row("/w/own-lab/views/{view}/edit", WRITERS_PAGE, "post", NEW_NAME),
    "delete-view": Row("/w/own-lab/views/{view}/delete", WRITERS_PAGE, "post"),
    "explore": Row("/explore?q=secret", EVERYONE),
    "explore-api": Row("/api/v1/explore", EVERYONE),
    # For requests of this machine to this machine, and a token of their own.
    "metrics": Row("/metrics", NOBODY),
    # For the operator of the service alone.
    "operator": Row("/operator", NOBODY),
    "check-integrity": Row("/operator/check", NOBODY, "post"),
    "alerts-page": Row("/w/own-lab/alerts", MEMBERS_PAGE),
    "alert-page": Row("/w/own-lab/alerts/{alert}", MEMBERS_PAGE),
    "answer-alert": Row(
        "/w/own-lab/alerts/{alert}/answer", WRITERS_PAGE, "post", {"state": "acknowledged"}
    ),
    "alert-rules-page": Row("/w/own-lab/alerts/rules", MEMBERS_PAGE),
    "change-alert-rule": Row(
        "/w/own-lab/alerts/rules/{rule}/change", WRITERS_PAGE, "post", {"is_enabled": "0"}
    ),
    "delete-alert-rule": Row("/w/own-lab/alerts/rules/{rule}/delete", WRITERS_PAGE, "post"),
    "channels-page": Row("/w/own-lab/channels", MEMBERS_PAGE),
    # Its address and its secret are for admins.
    "channel-page": Row("/w/own-lab/channels/{channel}", OWNERS_PAGE),
    "test-channel": Row("/w/own-lab/channels/{channel}/test", OWNERS_FORM, "post"),
    "renew-channel-secret": Row("/w/own-lab/channels/{channel}/secret", OWNERS_FORM, "post"),
    "delete-channel": Row("/w/own-lab/channels/{channel}/delete", OWNERS_FORM, "post"),
    "new-feed-token": Row("/w/own-lab/feed-tokens", MEMBERS_PAGE, "post", {"name": "reader"}),
    # Each member has feed tokens of their own.
    "revoke-feed-token": Row(
        "/w/own-lab/feed-tokens/{feed_token}/revoke",
        expected(404, 404, 404, 302, 404, 404),
        "post",
    ),
    "workspace-feed": Row("/w/own-lab/feed.atom", MEMBERS_PAGE),
    "alerts-feed": Row("/w/own-lab/alerts.atom", MEMBERS_PAGE),
    "server-feed": Row("/w/own-lab/servers/{server}/feed.atom", MEMBERS_PAGE),
    "result-set-feed": Row("/s/{private}.atom", MEMBERS_PAGE),
    "alert-list": Row("/api/v1/alerts", SIGNED_IN_API),
    "alert": Row("/api/v1/alerts/{alert}", MEMBERS_API),
    "alert-rule-list": Row("/api/v1/alert-rules", SIGNED_IN_API),
    "alert-rule": Row(
        "/api/v1/alert-rules/{rule}", WRITERS_API, "patch", {"name": "another"}, json=True
    ),
    "channel-list": Row("/api/v1/channels", SIGNED_IN_API),
    "channel": Row("/api/v1/channels/{channel}", expected(401, 404, 404, 204, 403, 403), "delete"),
    "channel-test": Row(
        "/api/v1/channels/{channel}/test", expected(401, 404, 404, 202, 403, 403), "post"
    ),
    "channel-secret": Row(
        "/api/v1/channels/{channel}/secret", expected(401, 404, 404, 200, 403, 403)
    ),
    "delivery-list": Row(
        "/api/v1/channels/{channel}/deliveries", expected(401, 404, 404, 200, 403, 403)
    ),
    "compare-png": Row("/w/own-lab/compare.png", MEMBERS_PAGE),
    "runs-page": Row("/w/own-lab/runs", MEMBERS_PAGE),
    "ticked-runs": Row(
        "/w/own-lab/runs/ticked",
        WRITERS_PAGE,
        "post",
        {"action": "label", "run": "{run}", "label": "branch", "value": "main"},
    ),
    "uploads-page": Row("/w/own-lab/uploads", MEMBERS_PAGE),
    "servers-page": Row("/w/own-lab/servers", MEMBERS_PAGE),
    "server-page": Row("/w/own-lab/servers/{server}", MEMBERS_PAGE),
    "hosts-page": Row("/w/own-lab/hosts", MEMBERS_PAGE),
    "host-page": Row("/w/own-lab/hosts/{host}", MEMBERS_PAGE),
    "workloads-page": Row("/w/own-lab/workloads", MEMBERS_PAGE),
    "workload-page": Row("/w/own-lab/workloads/{workload}", MEMBERS_PAGE),
    "rename-server": Row("/w/own-lab/servers/{server}/rename", WRITERS_PAGE, "post", NEW_NAME),
    "rename-host": Row("/w/own-lab/hosts/{host}/rename", WRITERS_PAGE, "post", NEW_NAME),
    "rename-workload": Row(
        "/w/own-lab/workloads/{workload}/rename", WRITERS_PAGE, "post", NEW_NAME
    ),
    "new-upload": Row("/w/own-lab/upload", OWNERS_PAGE),
    # Its results: test_search.py.
    "search-everywhere": Row("/search?q=nothing-like-it", EVERYONE),
    "search": Row("/w/own-lab/search?q=secre", MEMBERS_PAGE),
    "settings": Row("/w/own-lab/settings", OWNERS_PAGE),
    "workspace-readers": Row("/w/own-lab/settings/readers", OWNERS_FORM, "post"),
    "raw-output": Row("/w/own-lab/settings/raw-output", OWNERS_FORM, "post", {"days": "3650"}),
    "merge-server": Row("/w/own-lab/servers/{server}/merge", WRITERS_PAGE, "post", INTO),
    # 400: a writer, but there is no other of these.
    "merge-host": Row("/w/own-lab/hosts/{host}/merge", REFUSED_WRITERS, "post", INTO),
    "merge-workload": Row("/w/own-lab/workloads/{workload}/merge", REFUSED_WRITERS, "post", INTO),
    "undo-merge": Row("/w/own-lab/merges/{merge}/undo", WRITERS_PAGE, "post"),
    "agents-page": Row("/w/own-lab/agents", MEMBERS_PAGE),
    "revoke-token": Row("/w/own-lab/agents/{token}/revoke", OWNERS_PAGE),
    # The agent's program is no secret; this checkout has built none.
    "agent-pyz": Row("/loadsheet.pyz", NOBODY),
    "agent-pyz-sha256": Row("/loadsheet.pyz.sha256", NOBODY),
    "agent-wheel": Row("/agent/loadsheet_agent-0.1.0-py3-none-any.whl", NOBODY),
    "integration-file": Row("/integrations/gitlab/loadsheet.yml", EVERYONE),
    "make-token": Row("/w/own-lab/first-token", expected(404, 404, 404, 200, 404, 404), "post"),
    "tokens-page": Row("/w/own-lab/tokens", MEMBERS_PAGE),
    # The token of the test is an agent's, without the scope admin.
    "token-list": Row("/api/v1/tokens?workspace=own-lab", expected(401, 404, 200, 200, 403, 403)),
    "token": Row("/api/v1/tokens/{token}", expected(401, 404, 404, 204, 403, 403), "delete"),
    "workspace-list": Row("/api/v1/workspaces", SIGNED_IN_API),
    "workspace-link": Row(
        "/api/v1/workspaces/own-lab/link", expected(401, 404, 404, 201, 403, 403), "post"
    ),
    "member-list": Row("/api/v1/members?workspace=own-lab", expected(401, 404, 200, 200, 403, 403)),
    "member": Row(
        "/api/v1/members/{viewer}?workspace=own-lab",
        expected(401, 404, 404, 200, 403, 403),
        "patch",
        {"role": "member"},
        json=True,
    ),
    "invitation-list": Row(
        "/api/v1/invitations?workspace=own-lab", expected(401, 404, 404, 200, 403, 403)
    ),
    "invitation-api": Row(
        "/api/v1/invitations/{invitation}", expected(401, 404, 404, 204, 403, 403), "delete"
    ),
    "feed-token-list": Row(
        "/api/v1/feed-tokens?workspace=own-lab", expected(401, 404, 200, 200, 403, 403)
    ),
    "feed-token": Row(
        "/api/v1/feed-tokens/{feed_token}", expected(401, 404, 404, 204, 403, 403), "delete"
    ),
    # 400: a token that names another workspace than its own.
    "agent-list": Row("/api/v1/agents?workspace=own-lab", expected(401, 404, 200, 200, 200, 400)),
    "exports-page": Row("/w/own-lab/exports", OWNERS_PAGE),
    "export-file": Row("/w/own-lab/exports/{export}/file", OWNERS_PAGE),
    "delete-export": Row("/w/own-lab/exports/{export}/delete", OWNERS_FORM, "post"),
    "export-list": Row("/api/v1/exports?workspace=own-lab", expected(401, 404, 404, 200, 403, 403)),
    "export": Row("/api/v1/exports/{export}", expected(401, 404, 404, 200, 403, 403)),
    "export-file-api": Row("/api/v1/exports/{export}/file", expected(401, 404, 404, 200, 403, 403)),
    "workspace-settings-api": Row(
        "/api/v1/workspaces/own-lab",
        expected(401, 404, 404, 200, 403, 403),
        "patch",
        {"name": "Another name"},
        json=True,
    ),
    "audit": Row("/w/own-lab/audit", OWNERS_PAGE),
    "audit-list": Row("/api/v1/audit?workspace=own-lab", expected(401, 404, 404, 200, 403, 403)),
    "leaked-token-list": Row("/api/v1/leaked-tokens", NOTHING_SAID, "post", json=True),
    "result-sets-page": Row("/w/own-lab/result-sets", MEMBERS_PAGE),
    "share": Row("/w/own-lab/result-sets/new", WRITERS_PAGE, "post", FREEZE),
    "run-page": Row("/r/{run}", MEMBERS_PAGE),
    "run-plan-page": Row("/r/{run}/plan.toml", NOBODY),
    "edit-run": Row("/r/{run}/edit", expected(404, 404, 404, 200, 404, 404)),
    "undo-correction": Row("/r/{run}/corrections/{correction}/undo", WRITERS_PAGE, "post"),
    "restore-run": Row("/r/{trashed}/restore", WRITERS_PAGE, "post"),
    "erase-run": Row("/r/{trashed}/erase", WRITERS_PAGE, "post", {"is_confirmed": "yes"}),
    "trash-page": Row("/w/own-lab/trash", MEMBERS_PAGE),
    "trash-list": Row("/api/v1/trash", SIGNED_IN_API),
    "restore-run-api": Row("/api/v1/runs/{trashed}/restore", WRITERS_DELETE, "post"),
    "delete-run": Row("/r/{run}/delete", WRITERS_PAGE, "post"),
    "share-run": Row("/r/{run}/share", WRITERS_PAGE, "post", {"visibility": "unlisted"}),
    # 409: a writer, but the run is private.
    "revoke-run-link": Row("/r/{run}/share/revoke", expected(404, 404, 404, 409, 404, 404), "post"),
    # The id of a run is not its link.
    "shared-run-page": Row("/shared/runs/{run}", NOBODY),
    "shared-run-plan": Row("/shared/runs/{run}/plan.toml", NOBODY),
    "shared-run": Row("/api/v1/shared-runs/{run}", NOBODY),
    "run-sharing": Row("/api/v1/runs/{run}/sharing", MEMBERS_API),
    "run-sharing-revoke": Row(
        "/api/v1/runs/{run}/sharing/revoke", expected(401, 404, 404, 409, 409, 404), "post"
    ),
    "dismissals": Row(
        "/r/{run}/dismissals", WRITERS_PAGE, "post", {"check": "same-host", "reason": "Known."}
    ),
    "trial-page": Row("/t/{trial}", MEMBERS_PAGE),
    "upload-page": Row("/u/{upload}", MEMBERS_PAGE),
    "artefact-page": Row("/a/{artefact}", MEMBERS_PAGE),
    "artefact-raw": Row("/a/{artefact}/raw", MEMBERS_PAGE),
    "result-set-page": Row("/s/{private}", MEMBERS_PAGE),
    "result-set-json": Row("/s/{private}.json", MEMBERS_PAGE),
    "result-set-csv": Row("/s/{private}.csv", MEMBERS_PAGE),
    "result-set-png": Row("/s/{private}.png", MEMBERS_PAGE),
    "result-set-svg": Row("/s/{private}.svg", MEMBERS_PAGE),
    "result-set-changes": Row("/s/{private}/changes", MEMBERS_PAGE),
    "edit-result-set": Row("/s/{private}/edit", WRITERS_PAGE, "post", {"visibility": "public"}),
    "supersede": Row("/s/{private}/supersede", WRITERS_PAGE, "post", {"by": ""}),
    "withdraw": Row("/s/{private}/withdraw", WRITERS_PAGE, "post", {"reason": "wrong"}),
    "revoke": Row("/s/{private}/revoke", WRITERS_PAGE, "post"),
    # For the operator of the service alone.
    "feature": Row("/s/{private}/feature", NOBODY, "post"),
    # Neither reads who asks.
    "embed": Row("/embed/{private}", NOBODY),
    "oembed": Row("/oembed?url=http://127.0.0.1:8000/s/{private}", NOBODY),
    # 400: allowed in, but it said nothing.
    "session-meet": Row(
        "/api/v1/sessions", expected(401, 403, 403, 403, 400, 400), "post", json=True
    ),
    # Who may read finds that there is none.
    "session-page": Row("/w/own-lab/sessions/none", NOBODY),
    "me": Row("/api/v1/me", SIGNED_IN_API),
    # 400: allowed in, but it said nothing.
    "heartbeat": Row(
        "/api/v1/heartbeat", expected(401, 403, 403, 403, 400, 400), "post", json=True
    ),
    # 400: allowed in, but the request has no file.
    "upload-list": Row(
        "/api/v1/uploads",
        expected(401, 404, 404, 400, 400, 400),
        "post",
        {"workspace": "own-lab"},
    ),
    "upload-preview": Row(
        "/api/v1/uploads/preview",
        expected(401, 404, 404, 400, 400, 400),
        "post",
        {"workspace": "own-lab"},
    ),
    "upload": Row("/api/v1/uploads/{upload}", expected(404, 404, 200, 200, 200, 404)),
    # For tokens alone; what another workspace sent does not exist.
    "part-list": Row("/api/v1/uploads/{upload}/parts", expected(401, 403, 403, 403, 200, 200)),
    # 400: allowed in, but the request has no checksum.
    "part": Row(
        "/api/v1/uploads/{upload}/parts/%s/0" % ("0" * 64),
        expected(401, 403, 403, 403, 400, 400),
        "put",
    ),
    "compare": Row("/api/v1/compare?run={run}", MEMBERS_API),
    "compare-csv": Row("/api/v1/compare.csv?run={run}", MEMBERS_API),
    "gate": Row("/api/v1/gate?candidate=run={run}&baseline=main&require=p50<9s", MEMBERS_API),
    "facets": Row("/api/v1/facets?run={run}", MEMBERS_API),
    "run-list": Row("/api/v1/runs", SIGNED_IN_API),
    "run": Row("/api/v1/runs/{run}", MEMBERS_API),
    # 400: allowed in, but nothing was said.
    "observations": Row(
        "/api/v1/runs/{run}/observations",
        expected(401, 404, 403, 403, 400, 404),
        "post",
        json=True,
    ),
    "correction": Row(
        "/api/v1/runs/{run}/corrections/{correction}",
        WRITERS_DELETE,
        "delete",
    ),
    "run-progress": Row("/api/v1/runs/{run}/progress", MEMBERS_API),
    # Who may read the run finds that it has no plan.
    "run-plan": Row("/api/v1/runs/{run}/plan.toml", expected(401, 404, 404, 404, 404, 404)),
    "trial-list": Row("/api/v1/trials?cell={cell}", MEMBERS_API),
    "trials-csv": Row("/api/v1/trials.csv", SIGNED_IN_API),
    "trials-parquet": Row("/api/v1/trials.parquet", SIGNED_IN_API),
    "trial": Row("/api/v1/trials/{trial}", MEMBERS_API),
    "trial-timeline": Row("/api/v1/trials/{trial}/timeline", MEMBERS_API),
    "server-list": Row("/api/v1/servers", SIGNED_IN_API),
    "host-list": Row("/api/v1/hosts", SIGNED_IN_API),
    "workload-list": Row("/api/v1/workloads", SIGNED_IN_API),
    "merge-list": Row("/api/v1/merges", SIGNED_IN_API),
    "dismissal-list": Row("/api/v1/runs/{run}/dismissals", MEMBERS_API),
    # 404: allowed in, but nothing is dismissed.
    "dismissal": Row(
        "/api/v1/runs/{run}/dismissals/few-trials", expected(401, 404, 404, 404, 404, 404), "delete"
    ),
    # 400: allowed in, but there is no such server.
    "renames": Row(
        "/api/v1/renames",
        expected(401, 404, 404, 400, 400, 400),
        "post",
        {"workspace": "own-lab", "kind": "server", "former": "x", "current": "y"},
        json=True,
    ),
    "merge": Row("/api/v1/merges/{merge}", WRITERS_DELETE, "delete"),
    "artefact": Row("/api/v1/artefacts/{artefact}/raw", MEMBERS_API),
    "result-set-list": Row(
        "/api/v1/result-sets",
        expected(401, 404, 404, 201, 201, 400),
        "post",
        {**FREEZE, "workspace": "own-lab"},
        json=True,
    ),
    "result-set": Row("/api/v1/result-sets/{private}", MEMBERS_API),
    "result-set-changes-api": Row("/api/v1/result-sets/{private}/changes", MEMBERS_API),
    "result-set-withdraw": Row(
        "/api/v1/result-sets/{private}/withdraw",
        WRITERS_API,
        "post",
        {"reason": "wrong"},
        json=True,
    ),
    "result-set-revoke": Row("/api/v1/result-sets/{private}/revoke", WRITERS_API, "post"),
    "view-list": Row("/api/v1/views", SIGNED_IN_API),
    "view": Row("/api/v1/views/{view}", WRITERS_API, "patch", NEW_NAME, json=True),
    "workspace-usage": Row("/api/v1/workspaces/own-lab/usage", MEMBERS_API),
    "limit-list": Row("/api/v1/limits", EVERYONE),
    "openapi": Row("/api/v1/openapi.json", EVERYONE),
    "api-docs": Row("/api/v1/docs", EVERYONE),
}
