"""Settings, read from the environment. A value that is missing or wrong stops the start with the name and the mend.

docs/operations.md lists every variable; `tests/test_settings.py` fails when one of them is undocumented.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import dj_database_url
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
            raise _fail(
                "KERNELINDEX_SECRET_KEY", "has fewer than 50 characters; make one with `openssl rand -base64 48`"
            )
        return key
    if not DEVELOPMENT:
        raise _fail(
            "KERNELINDEX_SECRET_KEY",
            "is not set. In production give it 50 random characters or more; on a laptop set KERNELINDEX_ENV=development",
        )
    path = STATE_DIR / "secret-key"
    if not path.exists():
        STATE_DIR.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(48))
    return path.read_text()


SECRET_KEY = _secret_key()
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
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "csp",
    "runs",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "kernelindex.middleware.CompressionMiddleware",
    "kernelindex.middleware.ErrorPageMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "kernelindex.urls"
CSRF_FAILURE_VIEW = "kernelindex.errors.csrf_failure"
WSGI_APPLICATION = "kernelindex.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.jinja2.Jinja2",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {"environment": "kernelindex.jinja.environment"},
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

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]

DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 200

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
