"""``python -m studies NAME …``; ``--help`` lists the studies, ``NAME --help`` their options."""

import sys

from studies.registry import STUDIES
from studies.study import command_line

sys.exit(command_line(STUDIES))
