"""Questions, each answered with a table, a picture and a data file: ``python -m studies NAME --help``."""
