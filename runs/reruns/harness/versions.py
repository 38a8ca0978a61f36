"""Versions of what a process executes."""

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("torch", "triton", "liger-kernel", "transformers", "numpy")


def package_versions() -> dict[str, str]:
    """Versions of Python and of the packages that a rerun executes, by distribution name, without absent ones.

    A package that is imported is asked itself: an installed distribution's metadata leaves out the build that
    torch.__version__ names after the plus sign, such as 2.11.0+cu130.
    """
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = str(getattr(sys.modules.get(name), "__version__", None) or version(name))
        except PackageNotFoundError:
            continue
    return found
