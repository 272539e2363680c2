"""What each kind of visitor gets from a shared result set and a shared run."""

from backend.web.tests.access_statuses import (
    EVERYONE,
    MEMBERS_API,
    MEMBERS_PAGE,
    WRITERS_API,
    WRITERS_PAGE,
    Row,
)

# Unlisted and public result sets: who has the link may read, nobody but a writer may change.
SHARED = {
    "result-set-page": Row("/s/{shared}", EVERYONE),
    "result-set-json": Row("/s/{shared}.json", EVERYONE),
    "result-set-csv": Row("/s/{shared}.csv", EVERYONE),
    "result-set-png": Row("/s/{shared}.png", EVERYONE),
    "result-set-svg": Row("/s/{shared}.svg", EVERYONE),
    "embed": Row("/embed/{shared}", EVERYONE),
    "oembed": Row("/oembed?url=http://127.0.0.1:8000/s/{shared}", EVERYONE),
    "result-set": Row("/api/v1/result-sets/{shared}", EVERYONE),
    "result-set-feed": Row("/s/{shared}.atom", EVERYONE),
    # It reads the runs of today, which nobody shared.
    "result-set-changes": Row("/s/{shared}/changes", MEMBERS_PAGE),
    "result-set-changes-api": Row("/api/v1/result-sets/{shared}/changes", MEMBERS_API),
    "edit-result-set": Row("/s/{shared}/edit", WRITERS_PAGE, "post", {"visibility": "private"}),
    "supersede": Row("/s/{shared}/supersede", WRITERS_PAGE, "post", {"by": ""}),
    "withdraw": Row("/s/{shared}/withdraw", WRITERS_PAGE, "post", {"reason": "wrong"}),
    "revoke": Row("/s/{shared}/revoke", WRITERS_PAGE, "post"),
    "result-set-withdraw": Row(
        "/api/v1/result-sets/{shared}/withdraw",
        WRITERS_API,
        "post",
        {"reason": "wrong"},
        json=True,
    ),
    "result-set-revoke": Row("/api/v1/result-sets/{shared}/revoke", WRITERS_API, "post"),
}

# Unlisted and public runs: who has the link reads that page alone.
SHARED_RUN = {
    "shared-run-page": Row("/shared/runs/{shared_link}", EVERYONE),
    "shared-run-plan": Row("/shared/runs/{shared_link}/plan.toml", EVERYONE),
    "shared-run": Row("/api/v1/shared-runs/{shared_link}", EVERYONE),
    "run-page": Row("/r/{run}", MEMBERS_PAGE),
    "run-plan-page": Row("/r/{run}/plan.toml", MEMBERS_PAGE),
    "trial-page": Row("/t/{trial}", MEMBERS_PAGE),
    "artefact-page": Row("/a/{artefact}", MEMBERS_PAGE),
    "artefact-raw": Row("/a/{artefact}/raw", MEMBERS_PAGE),
    "run": Row("/api/v1/runs/{run}", MEMBERS_API),
    "run-sharing": Row("/api/v1/runs/{run}/sharing", MEMBERS_API),
    "trial": Row("/api/v1/trials/{trial}", MEMBERS_API),
    "artefact": Row("/api/v1/artefacts/{artefact}/raw", MEMBERS_API),
    "share-run": Row("/r/{run}/share", WRITERS_PAGE, "post", {"visibility": "private"}),
    "revoke-run-link": Row("/r/{run}/share/revoke", WRITERS_PAGE, "post"),
    "run-sharing-revoke": Row("/api/v1/runs/{run}/sharing/revoke", WRITERS_API, "post"),
}
