"""``python -m studies NAME …``; ``--help`` lists the studies, ``NAME --help`` their options."""

import sys
from io import TextIOWrapper

from studies.registry import STUDIES
from studies.study import command_line

if isinstance(sys.stdout, TextIOWrapper):  # files and pipes have the system's encoding, which may lack letters
    sys.stdout.reconfigure(errors="replace")
sys.exit(command_line(STUDIES))
