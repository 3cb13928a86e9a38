"""``python -m studies NAME …``; ``--help`` lists the studies, ``NAME --help`` their options."""

import sys

import matplotlib

matplotlib.use("Agg")

from studies.registry import STUDIES  # noqa: E402
from studies.study import command_line  # noqa: E402

sys.exit(command_line(STUDIES))
