"""DATABASES of the settings: the primary, and a replica for comparisons where there is one."""

from backend.config.environment import environment as env

TIMEOUTS = "-c statement_timeout=30s -c lock_timeout=5s -c idle_in_transaction_session_timeout=60s"
# A replica that is away must not hold up a comparison, which the primary answers as well.
REPLICA_CONNECT_S = "2"
# With a session for each connection: the same statements come again and again, so the database
# plans each once for a connection.
PREPARE_THRESHOLD = 3
OF_A_SESSION: dict[str, object] = {"options": TIMEOUTS, "prepare_threshold": PREPARE_THRESHOLD}
# A pooler gives each transaction another session. What a session keeps must not be relied on:
# options of its start (a pooler refuses them), prepared statements, cursors that outlive their
# transaction.
OF_A_TRANSACTION: dict[str, object] = {"prepare_threshold": None}


def databases() -> dict[str, dict[str, object]]:
    """The primary as `default`, and `replica` where READ_DATABASE_URL is set."""
    primary = env.database("DATABASE_URL", "the PostgreSQL to use, postgresql://user@host/name")
    replica = env.database(
        "READ_DATABASE_URL", "a streaming replica of it, for comparisons", default=""
    )
    is_pooled = _is_pooled()
    described = {"default": _described(primary, is_pooled=is_pooled)}
    if replica:
        replica["OPTIONS"] = {"connect_timeout": REPLICA_CONNECT_S, **_options_of(replica)}
        described["replica"] = {
            **_described(replica, is_pooled=is_pooled),
            # Tests have one database.
            "TEST": {"MIRROR": "default"},
        }
    return described


def _is_pooled() -> bool:
    pooler = env.choice(
        "DATABASE_POOLER",
        "transaction: a pooler such as PgBouncer in transaction mode is in front",
        allowed=("none", "transaction"),
        default="none",
    )
    return pooler == "transaction"


def _described(database: dict[str, object], *, is_pooled: bool) -> dict[str, object]:
    return {
        **database,
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "DISABLE_SERVER_SIDE_CURSORS": is_pooled,
        "OPTIONS": {
            "server_side_binding": True,
            **(OF_A_TRANSACTION if is_pooled else OF_A_SESSION),
            **_options_of(database),
        },
    }


def _options_of(database: dict[str, object]) -> dict[str, object]:
    options = database["OPTIONS"]
    assert isinstance(options, dict)
    return options
