"""The command line: ``python -m liemech --help``."""

from __future__ import annotations

import tyro

from liemech.warm_up import warm_up


def main() -> None:
    """Run the command that the arguments name."""
    tyro.extras.subcommand_cli_from_dict({"warm-up": warm_up}, prog="python -m liemech", description=__doc__)


if __name__ == "__main__":
    main()
