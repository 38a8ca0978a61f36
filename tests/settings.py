"""The site's own settings in a test's environment; DATABASE_URL alone may come from outside."""

import os
import tempfile

os.environ.update(
    KERNELINDEX_ENV="development",
    KERNELINDEX_STATE_DIR=os.environ.get("KERNELINDEX_TEST_STATE_DIR") or tempfile.mkdtemp(prefix="kernelindex-test-"),
    KERNELINDEX_SECRET_KEY="a key for tests, which sign nothing that leaves them",
    KERNELINDEX_LOG_LEVEL="ERROR",
)

from kernelindex.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_AUTOREFRESH = True
WHITENOISE_USE_FINDERS = True
