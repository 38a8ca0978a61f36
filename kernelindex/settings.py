"""Settings, read from the environment. A value that is missing or wrong stops the start with the name and the mend.

docs/operations.md lists every variable; `tests/test_settings.py` fails when one of them is undocumented.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import dj_database_url
from celery.schedules import crontab
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from environs import Env, EnvError

BASE_DIR = Path(__file__).resolve().parent.parent
env = Env()


def _fail(name: str, problem: str) -> ImproperlyConfigured:
    return ImproperlyConfigured(f"{name}: {problem} (docs/operations.md lists the settings)")


def _setting(read: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    try:
        return read(name, *args, **kwargs)
    except EnvError as error:
        raise _fail(name, str(error)) from error


ENVIRONMENT: str = _setting(env.str, "KERNELINDEX_ENV", "production")
if ENVIRONMENT not in {"production", "development"}:
    raise _fail("KERNELINDEX_ENV", f"must be production or development, not {ENVIRONMENT!r}")
DEVELOPMENT = ENVIRONMENT == "development"
DEBUG: bool = _setting(env.bool, "KERNELINDEX_DEBUG", False)
if DEBUG and not DEVELOPMENT:
    raise _fail("KERNELINDEX_DEBUG", "is for KERNELINDEX_ENV=development alone; it shows source code to visitors")

# Where the embedded database, the development key and the demo's downloads live. Nothing in it is needed elsewhere.
STATE_DIR = Path(_setting(env.str, "KERNELINDEX_STATE_DIR", str(BASE_DIR / "var")))


def _secret_key() -> str:
    """The signing key: from the environment, or in development a key made once and kept outside the repository."""
    key: str = _setting(env.str, "KERNELINDEX_SECRET_KEY", "")
    if key:
        if len(key) < 50 and not DEVELOPMENT:
            raise _fail("KERNELINDEX_SECRET_KEY", "has fewer than 50 characters: `openssl rand -base64 48` makes one")
        return key
    if not DEVELOPMENT:
        raise _fail(
            "KERNELINDEX_SECRET_KEY",
            "is not set. In production it has 50 random characters or more; a laptop has KERNELINDEX_ENV=development",
        )
    path = STATE_DIR / "secret-key"
    if not path.exists():
        STATE_DIR.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(48))
    return path.read_text()


SECRET_KEY = _secret_key()
SECRET_KEY_FALLBACKS: list[str] = _setting(env.list, "KERNELINDEX_OLD_SECRET_KEYS", [])
ALLOWED_HOSTS: list[str] = _setting(
    env.list, "KERNELINDEX_HOSTS", ["127.0.0.1", "localhost", "[::1]", "testserver"] if DEVELOPMENT else []
)
if not ALLOWED_HOSTS:
    raise _fail("KERNELINDEX_HOSTS", "is not set. Name the host names that this site answers to, separated by commas")
# The address that permalinks and citations carry, whatever host a request came in by.
BASE_URL: str = _setting(
    env.str, "KERNELINDEX_BASE_URL", "http://127.0.0.1:8000" if DEVELOPMENT else f"https://{ALLOWED_HOSTS[0]}"
).rstrip("/")
if not BASE_URL.startswith(("https://", "http://")):
    raise _fail("KERNELINDEX_BASE_URL", "must begin with https:// (or http:// on a laptop)")

INSTALLED_APPS = [
    "attestations.admin_config.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "csp",
    "runs",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.usersessions",
    "knox",
    "attestations.accounts",
    "attestations",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "kernelindex.middleware.CompressionMiddleware",
    "kernelindex.middleware.ErrorPageMiddleware",
    "csp.middleware.CSPMiddleware",
    "attestations.accounts.middleware.PersonalPagesMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]
ROOT_URLCONF = "kernelindex.urls"
CSRF_FAILURE_VIEW = "kernelindex.errors.csrf_failure"
WSGI_APPLICATION = "kernelindex.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.jinja2.Jinja2",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "environment": "kernelindex.jinja.environment",
            "context_processors": [
                "django.contrib.messages.context_processors.messages",
                "attestations.accounts.context.sign_in_ways",
            ],
        },
    },
    {  # the admin's own templates
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    },
]


def _database() -> Any:
    url: str = _setting(env.str, "DATABASE_URL", f"sqlite:///{STATE_DIR / 'kernelindex.sqlite3'}")
    try:
        database: Any = dj_database_url.parse(url, conn_max_age=None, conn_health_checks=True)
    except (ValueError, KeyError) as error:
        raise _fail("DATABASE_URL", f"is not a database address such as postgres://user@host/name ({error})") from error
    if database.get("ENGINE") == "django.db.backends.sqlite3":
        # IMMEDIATE: a writer waits for its turn at BEGIN instead of failing in the middle of a transaction.
        database["CONN_HEALTH_CHECKS"] = False
        database["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 60,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;"
            "PRAGMA cache_size=-32000; PRAGMA mmap_size=268435456;",
        }
    elif database.get("ENGINE") != "django.db.backends.postgresql":
        raise _fail("DATABASE_URL", "names a database other than SQLite or PostgreSQL")
    return database


DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

STATIC_URL = "/static/"
STATIC_ROOT = STATE_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "kernelindex" / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = DEBUG

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

# Deny by default: what a page may load is listed here, and nothing is inline.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "strict-origin-when-cross-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
_HTTPS = BASE_URL.startswith("https://")
SECURE_SSL_REDIRECT = _HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]  # a load balancer asks without TLS
SECURE_HSTS_SECONDS = 31_536_000 if _HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = _HTTPS
SECURE_HSTS_PRELOAD = _HTTPS
SESSION_COOKIE_SECURE = _HTTPS
CSRF_COOKIE_SECURE = _HTTPS
SESSION_COOKIE_HTTPONLY = True
CSRF_COOKIE_HTTPONLY = True
if _setting(env.bool, "KERNELINDEX_BEHIND_PROXY", False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    ALLAUTH_TRUSTED_PROXY_COUNT = 1  # the last address in X-Forwarded-For is the client's

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]

# Accounts (docs/accounts.md). The limits on sign-in and sign-up count in the database, so that they hold for all
# processes together; on a laptop and on a site alike.
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "accounts_cache",
        "OPTIONS": {"MAX_ENTRIES": 50_000},  # so many that nobody pushes out the count against them by making others
    }
}
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "account"
ACCOUNT_ADAPTER = "attestations.accounts.adapters.AccountAdapter"
ACCOUNT_FORMS = {
    "login": "attestations.accounts.entrance.LoginForm",
    "signup": "attestations.accounts.entrance.SignupForm",
}
SOCIALACCOUNT_FORMS = {"signup": "attestations.accounts.entrance.SocialSignupForm"}
ACCOUNT_LOGIN_METHODS = {"email", "username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email*", "password1*"]
ACCOUNT_USERNAME_VALIDATORS = "attestations.accounts.names.validators"
ACCOUNT_PRESERVE_USERNAME_CASING = False
ACCOUNT_EMAIL_VERIFICATION = "mandatory"
ACCOUNT_CHANGE_EMAIL = True  # one address; a new one takes the place of the old once it is verified
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_EMAIL_SUBJECT_PREFIX = "KernelIndex: "
ACCOUNT_DEFAULT_HTTP_PROTOCOL = "https" if _HTTPS else "http"
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_REAUTHENTICATION_METHODS = ("password", "mfa")
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = False
SOCIALACCOUNT_AUTO_SIGNUP = False  # a name is public, so everybody chooses theirs
MFA_ADAPTER = "attestations.accounts.adapters.SecondFactorAdapter"
MFA_FORMS = {
    "add_webauthn": "attestations.accounts.passkeys.AddForm",
    "authenticate_webauthn": "attestations.accounts.passkeys.AuthenticateForm",
    "login_webauthn": "attestations.accounts.passkeys.LoginForm",
    "reauthenticate_webauthn": "attestations.accounts.passkeys.ReauthenticateForm",
}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "KernelIndex"
MFA_TOTP_TOLERANCE = 1
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not _HTTPS  # browsers offer passkeys to http://localhost
KNOX_TOKEN_MODEL = "accounts.ApiToken"  # noqa: S105
MIGRATION_MODULES = {"knox": None}  # its own token table is not used, so it is not made
REST_KNOX = {"TOKEN_PREFIX": "kix_"}

GITHUB_CLIENT_ID: str = _setting(env.str, "KERNELINDEX_GITHUB_CLIENT_ID", "")
_GITHUB_SECRET: str = _setting(env.str, "KERNELINDEX_GITHUB_CLIENT_SECRET", "")
if bool(GITHUB_CLIENT_ID) != bool(_GITHUB_SECRET):
    raise _fail("KERNELINDEX_GITHUB_CLIENT_ID", "and KERNELINDEX_GITHUB_CLIENT_SECRET go together; one is not set")
if GITHUB_CLIENT_ID:
    INSTALLED_APPS += ["allauth.socialaccount.providers.github"]
    SOCIALACCOUNT_PROVIDERS = {
        "github": {
            "SCOPE": ["user:email"],
            "OAUTH_PKCE_ENABLED": True,
            "APPS": [{"client_id": GITHUB_CLIENT_ID, "secret": _GITHUB_SECRET, "key": ""}],
        }
    }
    # The sign-in form is answered with a redirect, which browsers hold against form-action.
    CONTENT_SECURITY_POLICY["DIRECTIVES"]["form-action"].append("https://github.com")


def _email() -> dict[str, Any]:
    """Where mail goes: console: or file: on a laptop, smtp:// (with STARTTLS where a user is named) or smtps://."""
    address: str = _setting(env.str, "KERNELINDEX_EMAIL_URL", "console:" if DEVELOPMENT else "smtp://localhost:25")
    parts = urlsplit(address)
    backends = "django.core.mail.backends"
    if parts.scheme == "console":
        return {"EMAIL_BACKEND": f"{backends}.console.EmailBackend"}
    if parts.scheme == "file":
        return {"EMAIL_BACKEND": f"{backends}.filebased.EmailBackend", "EMAIL_FILE_PATH": STATE_DIR / "mail"}
    if parts.scheme not in {"smtp", "smtps"} or not parts.hostname:
        raise _fail("KERNELINDEX_EMAIL_URL", "must be console:, file:, smtp://… or smtps://…")
    return {
        "EMAIL_BACKEND": f"{backends}.smtp.EmailBackend",
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": parts.port or (465 if parts.scheme == "smtps" else 587),
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_SSL": parts.scheme == "smtps",
        "EMAIL_USE_TLS": parts.scheme == "smtp" and bool(parts.username),
        "EMAIL_TIMEOUT": 20,
    }


globals().update(_email())
DEFAULT_FROM_EMAIL: str = _setting(
    env.str, "KERNELINDEX_EMAIL_FROM", f"KernelIndex <noreply@{urlsplit(BASE_URL).hostname}>"
)

# Work beside the web processes. A laptop needs no broker: messages are files.
CELERY_BROKER_URL: str = _setting(env.str, "KERNELINDEX_BROKER_URL", "filesystem://")
if CELERY_BROKER_URL.startswith("filesystem:"):
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(STATE_DIR / "broker" / "messages"),
        "data_folder_out": str(STATE_DIR / "broker" / "messages"),
        "control_folder": str(STATE_DIR / "broker" / "control"),
    }
CELERY_TASK_SERIALIZER = "json"
CELERY_RESULT_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BEAT_SCHEDULE_FILENAME = str(STATE_DIR / "beat-schedule")
CELERY_BEAT_SCHEDULE = {
    "notices": {"task": "accounts.fan_out", "schedule": 60.0},
    "digests": {"task": "accounts.send_digests", "schedule": crontab(hour=6, minute=0)},
    "tidy": {"task": "accounts.tidy", "schedule": crontab(hour=4, minute=0)},
    "reruns": {"task": "reruns.dispatch", "schedule": 30.0, "options": {"expires": 25}},
}
CELERY_TASK_ROUTES = {"reruns.dispatch": {"queue": "dispatcher"}}

# Controlled reruns (docs/reruns.md). The dispatcher's process alone is started with its key; web processes never are.
_DISPATCHER_KEY: str = _setting(env.str, "KERNELINDEX_DISPATCHER_KEY", "")
# The lane's broker is one that GPU hosts reach: give it a virtual host or a database of its own.
RERUN_BROKER_URL: str = _setting(env.str, "KERNELINDEX_RERUN_BROKER_URL", "") or (
    f"filesystem://{STATE_DIR.resolve() / 'broker-reruns'}"
    if CELERY_BROKER_URL.startswith("filesystem:")
    else CELERY_BROKER_URL
)
DISPATCHER_KEY = Path(_DISPATCHER_KEY) if _DISPATCHER_KEY else None
RERUNS_A_DAY: int = _setting(env.int, "KERNELINDEX_RERUNS_A_DAY", 500)
# Under this key the site knows a GPU again. It outlives the signing key: with another one every GPU would be a new one.
DEVICE_KEY: str = _setting(env.str, "KERNELINDEX_DEVICE_KEY", "") or SECRET_KEY

# The JSON API (docs/api.md). Quotas are requests a minute of one client, counted in each process by itself.
API_QUOTAS = {"read": 600, "costly": 60}
REST_FRAMEWORK = {"EXCEPTION_HANDLER": "runs.api.problems.handle", "UNAUTHENTICATED_USER": None}
SPECTACULAR_SETTINGS = {
    "TITLE": "KernelIndex API",
    "DESCRIPTION": "Benchmark runs of GPU kernels: the values that the pages of this index show, for programs.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVERS": [{"url": BASE_URL}],
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SORT_OPERATIONS": False,
    "SORT_OPERATION_PARAMETERS": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "POSTPROCESSING_HOOKS": ["runs.api.openapi.with_components"],
}

DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 200
FILE_UPLOAD_HANDLERS = ["attestations.uploads.BoundedUploadHandler"]

LOG_LEVEL: str = _setting(env.str, "KERNELINDEX_LOG_LEVEL", "INFO").upper()
if LOG_LEVEL not in {"DEBUG", "INFO", "WARNING", "ERROR"}:
    raise _fail("KERNELINDEX_LOG_LEVEL", "must be DEBUG, INFO, WARNING or ERROR")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"json": {"()": "kernelindex.logs.formatter"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "json"}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    "loggers": {"django.server": {"handlers": ["console"], "level": "WARNING", "propagate": False}},
}
