from django.apps import AppConfig


class FeedsConfig(AppConfig):
    name = "backend.feeds"

    def ready(self) -> None:
        from backend.accounts.workspace.members import member_left
        from backend.feeds.tokens import revoke_all_of

        member_left.connect(revoke_all_of, dispatch_uid="feed tokens")
