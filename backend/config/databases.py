"""DATABASES of the settings: the primary, and a replica for comparisons where there is one."""

from __future__ import annotations

from backend.config import environment as env

TIMEOUTS = "-c statement_timeout=30s -c lock_timeout=5s -c idle_in_transaction_session_timeout=60s"
# A replica that is away must not hold up a comparison, which the primary answers as well.
REPLICA_CONNECT_S = "2"


def databases() -> dict[str, dict[str, object]]:
    """The primary as `default`, and `replica` where READ_DATABASE_URL is set."""
    primary = env.database("DATABASE_URL", "the PostgreSQL to use, postgresql://user@host/name")
    replica = env.database(
        "READ_DATABASE_URL", "a streaming replica of it, for comparisons", default=""
    )
    described = {"default": _described(primary)}
    if replica:
        replica["OPTIONS"] = {"connect_timeout": REPLICA_CONNECT_S, **_options_of(replica)}
        described["replica"] = {
            **_described(replica),
            # Tests have one database.
            "TEST": {"MIRROR": "default"},
        }
    return described


def _described(database: dict[str, object]) -> dict[str, object]:
    return {
        **database,
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {
            "server_side_binding": True,
            "options": TIMEOUTS,
            # The same statements come again and again: each is planned once for a connection.
            "prepare_threshold": 3,
            **_options_of(database),
        },
    }


def _options_of(database: dict[str, object]) -> dict[str, object]:
    options = database["OPTIONS"]
    assert isinstance(options, dict)
    return options
