-- Puts the trials of each large workspace into partitions by year, while the service runs.
--
-- Read "When one PostgreSQL is full" in docs/operations.md first. `scripts/bench growth` runs this
-- file on 10,000,000 trials. "copy the rows" commits after every 100 runs. Needs disk for a second copy
-- of the table.

-- step: the new table, empty
CREATE TABLE runs_trial_parts (
    LIKE runs_trial INCLUDING DEFAULTS,
    workspace_id uuid,
    recorded_at timestamptz NOT NULL DEFAULT now()
) PARTITION BY LIST (workspace_id);
-- Workspaces with few trials, and new trials until `sort_in_new_trials` has sorted them in.
CREATE TABLE runs_trial_others PARTITION OF runs_trial_parts DEFAULT;
-- A workspace counts as large from a million trials on.
DO $$
DECLARE
    large record;
    workspace_name text;
    part_name text;
BEGIN
    FOR large IN
        SELECT run.workspace_id, min(run.recorded_at) AS first, max(run.recorded_at) AS last
        FROM runs_run AS run JOIN runs_cell AS cell ON cell.run_id = run.id
        GROUP BY run.workspace_id HAVING sum(cell.trial_count) >= 1000000
    LOOP
        workspace_name := 'runs_trial_' || left(replace(large.workspace_id::text, '-', ''), 12);
        EXECUTE format(
            'CREATE TABLE %I PARTITION OF runs_trial_parts FOR VALUES IN (%L)'
            ' PARTITION BY RANGE (recorded_at)', workspace_name, large.workspace_id);
        FOR year IN extract(year FROM large.first)..extract(year FROM large.last) + 1 LOOP
            part_name := workspace_name || '_' || year;
            EXECUTE format(
                'CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)',
                part_name, workspace_name, make_date(year, 1, 1), make_date(year + 1, 1, 1));
        END LOOP;
        EXECUTE format('CREATE TABLE %I PARTITION OF %I DEFAULT',
                       workspace_name || '_rest', workspace_name);
    END LOOP;
END $$;
-- An index of a partition finds a trial of it by id, so that nothing is copied twice.
DO $$
DECLARE leaf regclass;
BEGIN
    FOR leaf IN SELECT relid FROM pg_partition_tree('runs_trial_parts') WHERE isleaf LOOP
        EXECUTE format('ALTER TABLE %s ADD PRIMARY KEY (id)', leaf);
        EXECUTE format('CREATE UNIQUE INDEX ON %s (run_id, ordinal)', leaf);
    END LOOP;
END $$;
CREATE INDEX trial_parts_by_cell ON runs_trial_parts (cell_id);
CREATE INDEX trial_parts_by_output ON runs_trial_parts (output_sha256);
CREATE INDEX trial_parts_by_run ON runs_trial_parts (run_id) INCLUDE (warmup);
CREATE INDEX trial_parts_failed ON runs_trial_parts (run_id) WHERE error <> '';

-- step: what changes meanwhile is changed in both
CREATE FUNCTION copy_trial_to_parts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM runs_trial_parts WHERE id = OLD.id;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO runs_trial_parts
        SELECT NEW.*, run.workspace_id, run.recorded_at FROM runs_run AS run
        WHERE run.id = NEW.run_id;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER copy_to_parts AFTER INSERT OR UPDATE OR DELETE ON runs_trial
    FOR EACH ROW EXECUTE FUNCTION copy_trial_to_parts();

-- step: how the rows that are there are copied
CREATE PROCEDURE copy_all_trials_to_parts() LANGUAGE plpgsql AS $$
DECLARE
    last_id uuid := '00000000-0000-0000-0000-000000000000';
    batch uuid[];
BEGIN
    LOOP
        SELECT array_agg(id ORDER BY id), max(id::text)::uuid INTO batch, last_id FROM (
            SELECT id FROM runs_run WHERE id > last_id ORDER BY id LIMIT 100
        ) AS next;
        EXIT WHEN batch IS NULL;
        -- A trial that changes meanwhile waits for this transaction, and its trigger comes after it.
        INSERT INTO runs_trial_parts
        SELECT trial.*, run.workspace_id, run.recorded_at
        FROM runs_run AS run
        JOIN LATERAL (
            SELECT * FROM runs_trial WHERE run_id = run.id FOR SHARE
        ) AS trial ON true
        WHERE run.id = ANY(batch)
        ON CONFLICT DO NOTHING;
        COMMIT;
    END LOOP;
END $$;

-- step: copy the rows
CALL copy_all_trials_to_parts();

-- step: statistics for the planner
-- Before the exchange: a planner without statistics reads whole partitions, and a reader waits.
ANALYZE runs_trial_parts;

-- step: the new table takes the place of the old one
DO $$
DECLARE reference record;
BEGIN
    -- Waits for what reads and writes trials now, and holds up what comes for the rest of this step.
    LOCK TABLE runs_trial IN ACCESS EXCLUSIVE MODE;
    -- No key of all partitions exists that could be referred to. The service removes what refers to
    -- a trial itself.
    FOR reference IN
        SELECT conrelid::regclass AS referring, conname FROM pg_constraint
        WHERE contype = 'f' AND confrelid = 'runs_trial'::regclass
    LOOP
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', reference.referring, reference.conname);
    END LOOP;
    DROP TRIGGER copy_to_parts ON runs_trial;
    DROP TRIGGER keep_trials_of_new ON runs_trial;
    DROP TRIGGER keep_trials_of_deleted ON runs_trial;
    ALTER TABLE runs_trial RENAME TO runs_trial_before;
    ALTER TABLE runs_trial_parts RENAME TO runs_trial;
    -- As migration 0022 of runs made them.
    CREATE TRIGGER keep_trials_of_new AFTER INSERT ON runs_trial
        REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION runs_keep_trials();
    CREATE TRIGGER keep_trials_of_deleted AFTER DELETE ON runs_trial
        REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION runs_keep_trials();
END $$;

-- step: how new trials are sorted in, which come without a workspace
CREATE PROCEDURE sort_in_new_trials() LANGUAGE sql AS $$
    UPDATE runs_trial SET workspace_id = run.workspace_id, recorded_at = run.recorded_at
    FROM runs_run AS run
    WHERE runs_trial.workspace_id IS NULL AND run.id = runs_trial.run_id
$$;

-- step: sort in new trials, once a day from now on
CALL sort_in_new_trials();
