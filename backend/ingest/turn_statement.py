"""The statement that finds the uploads whose turn is next."""

from functools import cache

from django.db import connection

from backend.ingest.models import Turn, Upload

# An interactive upload is taken as received so much earlier. However many come, nothing else of the
# workspace waits longer than this for them.
HEAD_START_S = 3600
# Since when an interactive upload waits, in SQL.
SINCE_INTERACTIVE = f"received_at - interval '{HEAD_START_S} seconds'"


def _table(model: type[Upload] | type[Turn]) -> str:
    return connection.ops.quote_name(model._meta.db_table)


@cache
def heads_statement() -> str:
    """SQL: the first upload due of each workspace and lane, in the order of turns."""
    uploads, turns = _table(Upload), _table(Turn)
    return f"""
        WITH RECURSIVE waiting AS ({_waiting_workspaces()}), reading AS (
            SELECT workspace_id, count(DISTINCT lease_until) AS claims FROM {uploads}
            WHERE state = 'parsing' GROUP BY workspace_id
        ), clock AS (
            SELECT now() AS at, %s::float AS first_s, %s::float AS longest_s,
                %s::int AS faults_of_an_attempt
        )
        SELECT due.id, waiting.workspace_id
        FROM waiting
        CROSS JOIN clock
        CROSS JOIN LATERAL ({_head_of_queue()}) AS due
        LEFT JOIN reading USING (workspace_id)
        LEFT JOIN accounts_quota AS quota ON quota.workspace_id = waiting.workspace_id
        LEFT JOIN {turns} AS turn
            ON turn.workspace_id = waiting.workspace_id AND turn.is_slow = waiting.is_slow
        WHERE coalesce(reading.claims, 0) < coalesce(quota.reads, %s)
          AND NOT (waiting.is_slow AND %s <= (
              SELECT count(*) FROM {uploads} WHERE state = 'parsing' AND is_slow
          ))
        ORDER BY coalesce(reading.claims, 0), coalesce(turn.number, 0)
        LIMIT %s
        """  # noqa: S608  names of our own models


def _waiting_workspaces() -> str:
    """The workspaces and lanes with uploads that wait.

    Jumps through the index from one workspace to the next, so the cost is that of the workspaces
    that wait, not of their uploads.
    """
    uploads = _table(Upload)
    return f"""
            (SELECT is_slow, workspace_id FROM {uploads} WHERE state = 'received'
             ORDER BY is_slow, workspace_id LIMIT 1)
            UNION ALL
            SELECT following.is_slow, following.workspace_id
            FROM waiting CROSS JOIN LATERAL (
                SELECT upload.is_slow, upload.workspace_id FROM {uploads} AS upload
                WHERE state = 'received' AND (upload.is_slow, upload.workspace_id)
                    > (waiting.is_slow, waiting.workspace_id)
                ORDER BY upload.is_slow, upload.workspace_id LIMIT 1
            ) AS following
        """  # noqa: S608  names of our own models


def _head_of_queue() -> str:
    """The first upload due of one workspace and lane (`waiting`).

    Each candidate is the first entry of its part of the index. The order names `retry_at` even
    where it is null: only then is it the order of the index.
    """
    uploads = _table(Upload)
    queue = """
        state = 'received' AND upload.is_slow = waiting.is_slow
        AND upload.workspace_id = waiting.workspace_id
    """
    return f"""
            SELECT head.id FROM (
                (SELECT id, {SINCE_INTERACTIVE} AS since FROM {uploads} AS upload
                 WHERE {queue} AND is_interactive AND retry_at IS NULL ORDER BY received_at LIMIT 1)
                UNION ALL
                (SELECT id, received_at FROM {uploads} AS upload
                 WHERE {queue} AND retry_at IS NULL ORDER BY retry_at, received_at LIMIT 1)
                UNION ALL
                (SELECT id, retry_at FROM {uploads} AS upload
                 WHERE {queue} AND retry_at <= clock.at ORDER BY retry_at LIMIT 1)
                UNION ALL
                (SELECT id, received_at FROM (
                    SELECT id, received_at, retry_at,
                        least(faults + attempts * clock.faults_of_an_attempt, 10) AS doublings
                    FROM {uploads} AS upload
                    WHERE {queue} AND retry_at > clock.at ORDER BY retry_at DESC LIMIT 1
                 ) AS last WHERE retry_at > clock.at + make_interval(
                    secs => least(clock.first_s * 2 ^ doublings, clock.longest_s)))
            ) AS head ORDER BY head.since LIMIT 1
        """  # noqa: S608  names of our own models
