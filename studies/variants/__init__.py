"""A family of double pendulums: verdicts by methods and steps."""

from studies.study import Study
from studies.variants.picture import figure
from studies.variants.question import QUESTION, VariantsConfig, data, records, remarks, run

VARIANTS = Study(
    name="variants",
    question=QUESTION,
    config=VariantsConfig,
    run=run,
    records=records,
    columns={
        "method": "method",
        "step": "step [s]",
        "cells": "cells",
        "stopped": "stopped",
        "named": "or doubtful",
        "turning_part": "turn over",
        "other_verdicts": "other verdicts",
        "other_verdicts_unnamed": "not named",
        "other_ends": "other ends",
        "median_error": "median |ΔE|",
        "seconds": "s",
    },
    figure=figure,
    data=data,
    remarks=remarks,
)
