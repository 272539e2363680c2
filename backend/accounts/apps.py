from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "backend.accounts"

    def ready(self) -> None:
        """Connect the receiver of sign-ins."""
        from backend.accounts.sign_in import recent_sign_in  # noqa: F401
