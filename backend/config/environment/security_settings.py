"""Settings of passwords, of proofs of who somebody is, and of what pages may load."""

from typing import Any

from csp.constants import NONE, SELF

from backend.config.environment import environment as env

PASSWORD_HASHERS = [
    "backend.accounts.sign_in.passwords.PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
BREACHED_PASSWORDS_URL = env.web_address(
    "BREACHED_PASSWORDS_URL", "the list of breached passwords to check new passwords against"
)
_validation = "django.contrib.auth.password_validation"
AUTH_PASSWORD_VALIDATORS: list[dict[str, Any]] = [
    {"NAME": f"{_validation}.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": f"{_validation}.CommonPasswordValidator"},
]
if BREACHED_PASSWORDS_URL:
    AUTH_PASSWORD_VALIDATORS.append(
        {
            "NAME": "backend.config.environment.breached_passwords.BreachedPasswordValidator",
            "OPTIONS": {"address": BREACHED_PASSWORDS_URL},
        }
    )
# After it, a session gives its password, code or key again before acts that would do lasting harm.
ACCOUNT_REAUTHENTICATION_TIMEOUT = 15 * 60
# Who adds an address can have the password reset.
ACCOUNT_REAUTHENTICATION_REQUIRED = True
# By the names that django-allauth has for them.
MFA_FORMS = {
    name: f"backend.web.sign_in.second_factors.{form}"
    for name, form in (
        ("authenticate", "CodeForm"),
        ("reauthenticate", "CodeAgainForm"),
        ("authenticate_webauthn", "KeyForm"),
        ("reauthenticate_webauthn", "KeyAgainForm"),
        ("add_webauthn", "NewKeyForm"),
    )
}
# By the header Content-Security-Policy.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:", "blob:"],
        "connect-src": [SELF],
        "font-src": [SELF],
        "base-uri": [NONE],
        "object-src": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
