from django.apps import AppConfig


class SharingConfig(AppConfig):
    name = "backend.sharing"

    def ready(self) -> None:
        from backend.accounts.workspace.workspaces import LOCKED_OPENING_CHECKS, OPENING_CHECKS
        from backend.ingest.quota.quota import take_room
        from backend.ingest.quota.stored_sums import COUNTED
        from backend.ingest.removing.retention import HELD_RUNS
        from backend.runs.amending.dismissals import TEXT_CHECKS
        from backend.runs.amending.room import ROOM_TAKERS
        from backend.sharing.cited_runs import cited_run_ids
        from backend.sharing.run_sharing import refuse_secrets_of_shared
        from backend.sharing.takedowns import refuse_runs_taken_down
        from backend.sharing.workspace_secrets import refuse_secrets_of_workspace

        COUNTED.append(
            "SELECT workspace_id, coalesce(octet_length(snapshot), 0)"
            " + octet_length(notes) + octet_length(query) FROM sharing_resultset"
        )
        HELD_RUNS.append(cited_run_ids)
        ROOM_TAKERS.append(take_room)
        TEXT_CHECKS.append(refuse_secrets_of_shared)
        OPENING_CHECKS.append(refuse_secrets_of_workspace)
        LOCKED_OPENING_CHECKS.append(refuse_runs_taken_down)
