"""The statement that finds the uploads whose turn is next."""

from backend.accounts.workspace.turns import WORKSPACE, Work, payer_in_sql

# An interactive upload is taken as received so much earlier. However many come, nothing else of the
# workspace waits longer than this for them.
HEAD_START_S = 3600
# Since when an interactive upload waits, in SQL.
SINCE_INTERACTIVE = f"received_at - interval '{HEAD_START_S} seconds'"

# The workspaces and lanes with uploads that wait. Jumps through the index from one workspace to the
# next, so the cost is that of the workspaces that wait, not of their uploads.
_WAITING_WORKSPACES = """
    (SELECT is_slow, workspace_id FROM ingest_upload WHERE state = 'received'
     ORDER BY is_slow, workspace_id LIMIT 1)
    UNION ALL
    SELECT following.is_slow, following.workspace_id
    FROM waiting CROSS JOIN LATERAL (
        SELECT upload.is_slow, upload.workspace_id FROM ingest_upload AS upload
        WHERE state = 'received' AND (upload.is_slow, upload.workspace_id)
            > (waiting.is_slow, waiting.workspace_id)
        ORDER BY upload.is_slow, upload.workspace_id LIMIT 1
    ) AS following
"""

_IN_QUEUE = """
    state = 'received' AND upload.is_slow = waiting.is_slow
    AND upload.workspace_id = waiting.workspace_id
"""
# The first upload due of one workspace and lane (`waiting`). Each candidate is the first entry of
# its part of the index. The order names `retry_at` even where it is null: only then is it the order
# of the index.
_HEAD_OF_QUEUE = f"""
    SELECT head.id FROM (
        (SELECT id, {SINCE_INTERACTIVE} AS since FROM ingest_upload AS upload
         WHERE {_IN_QUEUE} AND is_interactive AND retry_at IS NULL ORDER BY received_at LIMIT 1)
        UNION ALL
        (SELECT id, received_at FROM ingest_upload AS upload
         WHERE {_IN_QUEUE} AND retry_at IS NULL ORDER BY retry_at, received_at LIMIT 1)
        UNION ALL
        (SELECT id, retry_at FROM ingest_upload AS upload
         WHERE {_IN_QUEUE} AND retry_at <= clock.at ORDER BY retry_at LIMIT 1)
        UNION ALL
        (SELECT id, received_at FROM (
            SELECT id, received_at, retry_at,
                least(faults + attempts * clock.faults_of_an_attempt, 10) AS doublings
            FROM ingest_upload AS upload
            WHERE {_IN_QUEUE} AND retry_at > clock.at ORDER BY retry_at DESC LIMIT 1
         ) AS last WHERE retry_at > clock.at + make_interval(
            secs => least(clock.first_s * 2 ^ doublings, clock.longest_s)))
    ) AS head ORDER BY head.since LIMIT 1
"""  # noqa: S608  our own conditions

# The beginning of the keys of turns (accounts/workspace/turns.py): each lane has its own.
_LANE = f"CASE WHEN is_slow THEN '{Work.SLOW_UPLOAD} ' ELSE '{Work.UPLOAD} ' END"

# Who pays for each workspace that has uploads waiting or being read.
_PAYERS = f"""
    SELECT workspace_id, {payer_in_sql("busy.workspace_id")} AS name
    FROM (SELECT workspace_id FROM waiting UNION SELECT workspace_id FROM reading) AS busy
"""  # noqa: S608  our own conditions

# Of each payer and lane, the first upload due of the workspace whose turn it is.
_QUEUES = f"""
    SELECT DISTINCT ON (payer.name, is_slow)
        due.id, workspace_id, payer.name AS payer, {_LANE} || payer.name AS key
    FROM waiting
    CROSS JOIN clock
    CROSS JOIN LATERAL ({_HEAD_OF_QUEUE}) AS due
    JOIN payer USING (workspace_id)
    LEFT JOIN reading USING (workspace_id)
    LEFT JOIN accounts_quota AS quota USING (workspace_id)
    LEFT JOIN accounts_workturn AS turn ON turn.key = {_LANE} || '{WORKSPACE}' || workspace_id
    WHERE coalesce(reading.claims, 0) < coalesce(quota.reads, %s)
      AND NOT (is_slow AND %s <= (
          SELECT count(*) FROM ingest_upload WHERE state = 'parsing' AND is_slow
      ))
    ORDER BY payer.name, is_slow, coalesce(reading.claims, 0), turn.at NULLS FIRST
"""  # noqa: S608  our own statements

# The first upload due of each payer and lane, in the order of turns.
HEADS = f"""
    WITH RECURSIVE waiting AS ({_WAITING_WORKSPACES}), reading AS (
        SELECT workspace_id, count(DISTINCT lease_until) AS claims FROM ingest_upload
        WHERE state = 'parsing' GROUP BY workspace_id
    ), payer AS ({_PAYERS}), clock AS (
        SELECT now() AS at, %s::float AS first_s, %s::float AS longest_s,
            %s::int AS faults_of_an_attempt
    ), queue AS ({_QUEUES}), reading_of_payer AS (
        SELECT payer.name AS payer, sum(claims) AS claims
        FROM reading JOIN payer USING (workspace_id) GROUP BY payer.name
    )
    SELECT queue.id, workspace_id, payer
    FROM queue
    LEFT JOIN reading_of_payer USING (payer)
    LEFT JOIN accounts_workturn AS turn USING (key)
    ORDER BY coalesce(claims, 0), turn.at NULLS FIRST
    LIMIT %s
"""  # noqa: S608  our own statements

# Those who were served come behind all others of the lane. No clock decides: after it was set back,
# turns go on from the last one.
NOTE_TURNS = """
    INSERT INTO accounts_workturn (key, at)
    SELECT %s || ' ' || served, (
        SELECT greatest(now(), max(at) + interval '1 microsecond') FROM accounts_workturn
        WHERE key LIKE %s || ' %%'
    )
    FROM unnest(%s::text[]) AS served
    ON CONFLICT (key) DO UPDATE SET at = excluded.at
"""
