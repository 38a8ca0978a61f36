"""The site as it is, and beside it one view that answers with 15 kB of ready bytes through the same middleware."""

from kernelindex.settings import *  # noqa: F403

ROOT_URLCONF = "tests.bench.urls"
