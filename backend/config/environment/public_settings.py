"""Settings of a service that strangers find: whom they write to, what they read, search engines."""

from pathlib import Path
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from backend.config.environment import environment as env
from backend.email_address import is_mailable

_CONTACT = "mailto:name@example.org or https://example.org/contact"


def _contact(name: str, meaning: str) -> str:
    """A mailto: or https:// address; a plain email address gets its mailto:."""
    value = env.text(name, meaning, default="")
    if "@" in value and ":" not in value:
        value = f"mailto:{value}"
    is_mail = value.startswith("mailto:") and is_mailable(value[7:].partition("?")[0])
    is_page = value.startswith("https://") and bool(urlsplit(value).hostname)
    if value and (not (is_mail or is_page) or any(each.isspace() for each in value)):
        raise ImproperlyConfigured(f"{name} is {value!r}, expected {_CONTACT} ({meaning}).")
    return value


def _text_file(name: str, meaning: str) -> Path | None:
    """A file of Markdown that can be read; None if none is named."""
    value = env.text(name, meaning, default="")
    if not value:
        return None
    path = Path(value)
    try:
        path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(
            f"{name} is {value!r}, which cannot be read ({error}); expected a file with Markdown "
            f"in UTF-8 ({meaning})."
        ) from None
    return path


INDEXING = env.flag("INDEXING", "search engines may list the public pages", default=True)
ABUSE_CONTACT = _contact("ABUSE_CONTACT", "whom people write to about what is public here")
SECURITY_CONTACT = _contact("SECURITY_CONTACT", "whom people report a vulnerability to")
SECURITY_POLICY_URL = env.web_address(
    "SECURITY_POLICY_URL", "the page that says how vulnerabilities are handled"
).removesuffix("/")
TERMS_FILE = _text_file("TERMS_FILE", "the text of the page /terms")
PRIVACY_FILE = _text_file("PRIVACY_FILE", "the text of the page /privacy")
REPORTS_PER_HOUR = env.whole(
    "REPORTS_PER_HOUR", "reports an hour about public content from one address", default=10
)

__all__ = [
    "ABUSE_CONTACT",
    "INDEXING",
    "PRIVACY_FILE",
    "REPORTS_PER_HOUR",
    "SECURITY_CONTACT",
    "SECURITY_POLICY_URL",
    "TERMS_FILE",
]
