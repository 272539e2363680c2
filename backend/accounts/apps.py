from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "backend.accounts"

    def ready(self) -> None:
        """Connect the receivers of sign-ins, and of members who left."""
        from backend.accounts.sign_in import recent_sign_in  # noqa: F401
        from backend.accounts.tokens import tokens
        from backend.accounts.workspace import invitations
        from backend.accounts.workspace.members import member_left

        member_left.connect(tokens.revoke_all_of, dispatch_uid="tokens")
        member_left.connect(invitations.revoke_all_of, dispatch_uid="invitations")
