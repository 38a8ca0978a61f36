"""The command of a GPU host."""

from runs.reruns.runner.cli import main

raise SystemExit(main())
