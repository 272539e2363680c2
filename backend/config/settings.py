"""All settings that depend on the environment. docs/operations.md lists every variable."""

from pathlib import Path

from backend.config.environment import environment as env
from backend.config.environment.api_settings import REST_FRAMEWORK, SPECTACULAR_SETTINGS  # noqa: F401
from backend.config.environment.caches import caches
from backend.config.environment.databases import databases
from backend.config.environment.logs import logging_config
from backend.config.environment.public_settings import *  # noqa: F403
from backend.config.environment.security_settings import (  # noqa: F401
    ACCOUNT_REAUTHENTICATION_REQUIRED,
    ACCOUNT_REAUTHENTICATION_TIMEOUT,
    AUTH_PASSWORD_VALIDATORS,
    BREACHED_PASSWORDS_URL,
    CONTENT_SECURITY_POLICY,
    MFA_FORMS,
    PASSWORD_HASHERS,
)
from backend.untrusted.limits import FILES, FORM_BYTES, FORM_FIELDS

BASE_DIR = Path(__file__).resolve().parent.parent.parent

SECRET_KEY = env.random_secret("SECRET_KEY", "a long random text that signs sessions")
TOKEN_PEPPER = env.random_secret(
    "TOKEN_PEPPER", "a long random text that keys the stored token hashes"
)
FORMER_TOKEN_PEPPERS = env.listing(
    "FORMER_TOKEN_PEPPERS",
    "earlier values of TOKEN_PEPPER, which still verify",
    default="",
    is_secret=True,
)
PUBLIC_URL = env.text(
    "PUBLIC_URL", "the address people reach the service at", default="http://127.0.0.1:8000"
).rstrip("/")
ALLOWED_HOSTS = env.listing(
    "ALLOWED_HOSTS", "host names to answer to", default="127.0.0.1,localhost,[::1]"
)
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]
DEBUG = env.flag("DEBUG", "show tracebacks on pages; never in production", default=False)
BEHIND_TLS = PUBLIC_URL.startswith("https://")
TRUST_PROXY = env.flag(
    "TRUST_PROXY", "a proxy in front sets X-Forwarded-Proto and X-Forwarded-For", default=False
)
if TRUST_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

# Services

DATABASES = databases()
DATABASE_ROUTERS = ["backend.runs.database.read_router.ReadRouter"]
REDIS_URL = env.text(
    "REDIS_URL", "the Redis or Valkey to use as broker, redis://host:port/0", is_secret=True
)
# To connect, and to wait for an answer.
REDIS_TIMEOUT_S = 0.5
LOCAL_SITE = env.flag(
    "LOCAL_SITE", "scripts/start runs this: pages name its commands and its demo", default=False
)
# What may be evicted at any time: counts for limits, and kept answers, which would evict them.
CACHE_URL = env.optional_secret("CACHE_URL", "another Redis for limits") or REDIS_URL
ANSWERS_URL = env.optional_secret("ANSWERS_URL", "another Redis for kept answers") or CACHE_URL
DATA_DIR = Path(env.text("DATA_DIR", "where artefacts are kept on disk", default=".data"))
DATABASE_DIR = env.text("DATABASE_DIR", "PostgreSQL's folder, if it is on this machine", default="")
# The agent's files that are offered for download; built by scripts/start and the Dockerfile.
AGENT_FILES = BASE_DIR / "agents" / "dist"
S3_BUCKET = env.text("S3_BUCKET", "a bucket for artefacts instead of DATA_DIR", default="")
S3_ENDPOINT_URL = env.text("S3_ENDPOINT_URL", "the S3-compatible service of S3_BUCKET", default="")
# Without them boto3 looks where the tools of AWS keep credentials.
AWS_ACCESS_KEY_ID = env.optional_secret("AWS_ACCESS_KEY_ID", "the key of the S3-compatible service")
AWS_SECRET_ACCESS_KEY = env.optional_secret("AWS_SECRET_ACCESS_KEY", "the secret of that key")
AWS_SESSION_TOKEN = env.optional_secret("AWS_SESSION_TOKEN", "the token of a key that expires")
BACKUP_DIR = env.text("BACKUP_DIR", "the folder of backups and archived WAL", default="")
BACKUP_BUCKET = env.text("BACKUP_BUCKET", "a bucket for copies of BACKUP_DIR", default="")
LOG_LEVEL = env.text("LOG_LEVEL", "the least severe log level to print", default="INFO")
METRICS_TOKEN = env.optional_secret("METRICS_TOKEN", "the token that reads /metrics")
SENTRY_DSN = env.optional_secret("SENTRY_DSN", "where faults are reported")

# Limits and clocks of receiving and reading uploads

UPLOAD_MAX_BYTES = env.whole("UPLOAD_MAX_BYTES", "largest upload as sent", default=256 << 20)
WORKSPACE_MAX_BYTES = env.whole(
    "WORKSPACE_MAX_BYTES", "bytes that one workspace may have stored", default=1 << 40
)
UPLOADS_PER_DAY = env.whole(
    "UPLOADS_PER_DAY", "uploads a day (UTC) of one workspace", default=1_000_000
)
WORKSPACE_MAX_MEMBERS = env.whole(
    "WORKSPACE_MAX_MEMBERS", "members that one workspace may have", default=1_000
)
BODIES_MAX_BYTES = env.whole(
    "BODIES_MAX_BYTES",
    "bytes of large requests and answers that a web process holds at a time",
    default=1536 << 20,
)
DECOMPRESSED_MAX_BYTES = env.whole(
    "DECOMPRESSED_MAX_BYTES", "largest artefact when unpacked", default=8 << 30
)
PARSE_CPU_S = env.whole("PARSE_CPU_S", "CPU seconds the parser may use for a trial", default=300)
PARSE_MEMORY_BYTES = env.whole("PARSE_MEMORY_BYTES", "memory the parser may use", default=2 << 30)
LEASE_S = env.whole("LEASE_S", "seconds a worker holds an upload before others may", default=40)
POLL_INTERVAL_S = env.whole(
    "POLL_INTERVAL_S", "seconds after which a worker looks for uploads again", default=3
)
QUICK_READ_S = env.whole(
    "QUICK_READ_S", "seconds after which an upload moves to the slow lane", default=5
)
SLOW_READ_S = env.whole("SLOW_READ_S", "most seconds that reading an upload may take", default=1800)
SLOW_READS = env.whole(
    "SLOW_READS", "slow uploads read at a time; fewer than there are readers", default=1
)
READS_PER_WORKSPACE = env.whole(
    "READS_PER_WORKSPACE", "uploads of one workspace read at a time", default=4
)
COLLECT_INTERVAL_S = env.whole(
    "COLLECT_INTERVAL_S", "seconds between two searches for bytes that nothing names", default=3600
)
COLLECT_AFTER_S = env.whole(
    "COLLECT_AFTER_S",
    "age in seconds from which bytes that nothing names are removed",
    default=86400,
)
EXPORT_KEPT_DAYS = env.whole(
    "EXPORT_KEPT_DAYS", "days that the archive of a workspace can be downloaded", default=7
)
MAX_ATTEMPTS = env.whole("MAX_ATTEMPTS", "attempts after which an upload is quarantined", default=3)
UPLOADS_PER_MINUTE = env.whole(
    "UPLOADS_PER_MINUTE", "uploads a minute of one token or user", default=60_000
)
REQUESTS_PER_MINUTE = env.whole(
    "REQUESTS_PER_MINUTE",
    "other requests of the API a minute of one token, user or address",
    default=6_000,
)
PARTS_KEPT_S = env.whole(
    "PARTS_KEPT_S", "seconds a part waits for the rest of its upload", default=3 * 24 * 3600
)
PARTS_MAX_BYTES = env.whole(
    "PARTS_MAX_BYTES", "bytes of waiting parts of one workspace", default=4 << 30
)
PREVIEWS_PER_MINUTE = env.whole("PREVIEWS_PER_MINUTE", "previews a minute of one user", default=60)
TRIES_PER_MINUTE = env.whole(
    "TRIES_PER_MINUTE", "previews a minute of one address without an account", default=10
)
FAILED_SIGN_INS_PER_HOUR = env.whole(
    "FAILED_SIGN_INS_PER_HOUR", "wrong passwords and codes an hour of one network", default=60
)
FAILED_SIGN_INS_PER_ACCOUNT = env.whole(
    "FAILED_SIGN_INS_PER_ACCOUNT",
    "wrong passwords an hour of one network or browser for one account",
    default=20,
)
FAILED_SIGN_INS_IN_NEW_BROWSERS = env.whole(
    "FAILED_SIGN_INS_IN_NEW_BROWSERS",
    "wrong passwords an hour for one account, in browsers that never signed in to it",
    default=100,
)
LEAK_REPORTS_PER_MINUTE = env.whole(
    "LEAK_REPORTS_PER_MINUTE", "reports of leaked tokens a minute of one address", default=30
)
LEAST_FREE_PERCENT = env.whole(
    "LEAST_FREE_PERCENT", "free share of each disk below which uploads get 507", default=10
)
LEAST_FREE_BYTES = env.whole(
    "LEAST_FREE_BYTES", "the same in bytes, for small disks; the larger holds", default=512 << 20
)
DATA_UPLOAD_MAX_NUMBER_FILES = FILES
FILE_UPLOAD_HANDLERS = ["backend.ingest.receiving.sent_files.SentFiles"]
DATA_UPLOAD_MAX_NUMBER_FIELDS = FORM_FIELDS
DATA_UPLOAD_MAX_MEMORY_SIZE = FORM_BYTES

# Django

INSTALLED_APPS = [
    # Without its search for modules named admin: the staff's pages are in backend.web.staff.
    "django.contrib.admin.apps.SimpleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django.contrib.postgres",  # its indexes of trigrams
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "csp",
    "rest_framework",
    "drf_spectacular",
    "backend.accounts",
    "backend.runs",
    "backend.noise",
    "backend.ingest",
    "backend.analysis",
    "backend.sharing",
    "backend.fleet",
    "backend.deliveries",
    "backend.alerts",
    "backend.feeds",
    "backend.transfer",
    "backend.library",
    "backend.api",
    "backend.web",
    "backend.config",
]
MIDDLEWARE = [
    "backend.config.serving.middleware.MeasureRequests",
    "backend.api.middleware.ServerTiming",
    "backend.api.protocol.rates.RateLimitHeaders",
    "backend.config.serving.middleware.GiveSlotsBack",
    "backend.api.middleware.ConditionalGet",
    "backend.web.middleware.ShowUnseenCharacters",
    "backend.web.middleware.PrivateByDefault",
    "backend.config.serving.middleware.PolicyHeaders",
    "backend.config.serving.bodies.LimitHeaders",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "backend.config.serving.middleware.RefuseUploadsOnShortDisk",
    "backend.web.middleware.HideWhoHasAnAccount",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "backend.web.middleware.NameActor",
    "backend.config.serving.bodies.LimitBodies",
    "backend.web.middleware.LimitForms",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "backend.config.serving.middleware.ShowTombstones",
    "backend.web.middleware.AnswerRefusals",
    "allauth.account.middleware.AccountMiddleware",
    "backend.web.middleware.StrangersSignInFirst",
]
ROOT_URLCONF = "backend.config.urls"
WSGI_APPLICATION = "backend.config.serving.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
USE_I18N = False
APPEND_SLASH = False

TAGS = ("mails", "numbers", "parts", "sections", "site", "tables")
OWN_TAGS = [f"backend.web.templatetags.{name}" for name in TAGS]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "frontend" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "builtins": ["django.templatetags.l10n", "django.templatetags.static", *OWN_TAGS],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "frontend" / "dist"]
# The bundler writes the files that are served: no collecting step between build and page.
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG
WHITENOISE_MAX_AGE = 300

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "backend.accounts.password_backend.PasswordBackend",
    # For sessions of before: a wrong password does not come here.
    "django.contrib.auth.backends.ModelBackend",
]
LOGIN_REDIRECT_URL = "home"
LOGIN_URL = "account_login"
CSRF_FAILURE_VIEW = "backend.web.base.errors.csrf_failure"
OPEN_SIGN_UP = env.flag(
    "OPEN_SIGN_UP", "anyone may make an account; else an invitation is needed", default=False
)
ACCOUNT_ADAPTER = "backend.accounts.sign_in.adapter.AccountAdapter"
_email_field = "email*" if OPEN_SIGN_UP else "email"
ACCOUNT_SIGNUP_FIELDS = ["username*", _email_field, "password1*", "password2*"]
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_USERNAME_MIN_LENGTH = 2
ACCOUNT_DEFAULT_HTTP_PROTOCOL = "https" if BEHIND_TLS else "http"
ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = False
MFA_ADAPTER = "backend.accounts.sign_in.adapter.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_TOTP_ISSUER = "Loadsheet"
# All limits are in one table, backend/accounts/limits/limiters.py. Those of django-allauth have no
# payer: whoever types an address of somebody else keeps its owner waiting.
ACCOUNT_RATE_LIMITS = MFA_RATE_LIMITS = False
# An account may have no address at all.
MFA_ALLOW_UNVERIFIED_EMAIL = True
# Browsers allow security keys on http://localhost only.
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not BEHIND_TLS

# Mail

_mail_server = env.mail_server(
    "SMTP_URL", "the mail server; without it, messages are kept for the operator"
)
SENDS_MAIL = bool(_mail_server)
EMAIL_BACKEND = "backend.accounts.mail.held_mail.EmailBackend"
globals().update(_mail_server)
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.mail_sender(
    "MAIL_FROM", "the address that mails come from", default="loadsheet@localhost"
)
# Who comes without an invitation proves an address; with one, an address is for a lost password.
ACCOUNT_EMAIL_VERIFICATION = "mandatory" if OPEN_SIGN_UP else "optional" if SENDS_MAIL else "none"

# Messages to addresses that members give

WEBHOOKS = env.choice(
    "WEBHOOKS",
    "where webhooks may go: to public addresses, to any, or nowhere",
    allowed=("public", "any", "off"),
    default="public",
)

# Security

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BEHIND_TLS
SESSION_COOKIE_NAME = "__Host-session" if BEHIND_TLS else "session"
CSRF_COOKIE_NAME = "__Host-csrf" if BEHIND_TLS else "csrftoken"
# Says to which accounts a browser signed in before (backend/accounts/sign_in/browsers.py).
BROWSER_COOKIE_NAME = "__Host-browser" if BEHIND_TLS else "browser"
# In the session: a cookie of its own would carry names in clear.
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if BEHIND_TLS else 0
SECURE_SSL_REDIRECT = False
SILENCED_SYSTEM_CHECKS = [
    "security.W005",  # other hosts below the same domain are not ours to commit
    "security.W008",  # the proxy redirects to https://; scripts/start has no TLS
    "security.W021",  # a browser's preload list cannot be left for months: for the owner to decide
]
if not BEHIND_TLS:
    # HSTS and Secure cookies: set where PUBLIC_URL is https://, and only there.
    SILENCED_SYSTEM_CHECKS += ["security.W004", "security.W012", "security.W016"]
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

CACHES = caches(CACHE_URL, ANSWERS_URL, timeout_s=REDIS_TIMEOUT_S)

# Celery: a message is a hint, the row is the record

CELERY_BROKER_URL = REDIS_URL
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = False  # the row's lease brings a killed upload back
CELERY_TASK_TIME_LIMIT = 3600
CELERY_TASK_PUBLISH_RETRY = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_MAX_TASKS_PER_CHILD = 2000
# A lost broker ends no reading: the row is the record, the message only a hint.
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_VISIBILITY_TIMEOUT = 7200
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": CELERY_VISIBILITY_TIMEOUT,
    "unacked_restore_interval": 10,
    "socket_connect_timeout": 0.5,
    "socket_timeout": 30,
    "socket_keepalive": True,
    "health_check_interval": 30,
    # Of who sends a message; the guard (backend/broker.py) then leaves a lost broker alone.
    "max_retries": 1,
    "interval_start": 0.1,
}
# No message expires: a worker whose clock is ahead would take each for an old one.
# Workers look into each queue by turns. In a long queue of hints the canary would wait, and hints
# and archives would wait behind the drawings that one member may ask for.
CELERY_TASK_QUEUES: dict[str, dict[str, str]] = {"celery": {}, "canary": {}, "drawings": {}}
CELERY_TASK_ROUTES = {"config.canary": {"queue": "canary"}, "sharing.draw": {"queue": "drawings"}}
CELERY_BEAT_SCHEDULE = {
    "collect": {"task": "ingest.collect", "schedule": float(COLLECT_INTERVAL_S)},
    "canary": {"task": "config.canary", "schedule": 30.0},
    "alerts": {"task": "alerts.tend", "schedule": 300.0},
    "exports": {"task": "transfer.write", "schedule": 60.0},
    "wal": {"task": "config.push_wal", "schedule": 60.0},
    "deletions": {"task": "config.store_deletions", "schedule": 60.0},
    "sessions": {"task": "accounts.delete_ended_sessions", "schedule": 3600.0},
    "verify": {"task": "config.verify", "schedule": 24 * 3600.0},
    "verify-rows": {"task": "config.verify_rows", "schedule": 3600.0},
}

LOGGING = logging_config(LOG_LEVEL)
