#!/usr/bin/env python
"""Django's command line for KernelIndex."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kernelindex.settings")
    try:
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line
    except ImportError as error:
        raise SystemExit("Django is not installed in this Python. Run `make demo`, or use .venv/bin/python.") from error
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        raise SystemExit(f"{sys.argv[0]}: {error}") from None


if __name__ == "__main__":
    main()
