from django.apps import AppConfig


class TransferConfig(AppConfig):
    name = "backend.transfer"

    def ready(self) -> None:
        from django.db.models.signals import post_delete

        from backend.ingest.removing.collector import NAMED_ELSEWHERE
        from backend.transfer.exporting import named_archives, remove_archive
        from backend.transfer.models import Export

        NAMED_ELSEWHERE.append(named_archives)
        # Also where the workspace is deleted, and its exports with it.
        post_delete.connect(remove_archive, sender=Export, dispatch_uid="transfer")
