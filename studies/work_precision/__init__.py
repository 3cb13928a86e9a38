"""Error against computing time, with SciPy's solvers as opponents."""

from studies.study import Study
from studies.work_precision.picture import figure, motion
from studies.work_precision.question import QUESTION, WorkPrecisionConfig, data, records, remarks, run

WORK_PRECISION = Study(
    name="work-precision",
    question=QUESTION,
    config=WorkPrecisionConfig,
    run=run,
    records=records,
    columns={
        "system": "system",
        "method": "method",
        "step": "step",
        "tolerance": "rtol",
        "error": "error",
        "milliseconds": "ms",
        "evaluations": "evaluations",
    },
    figure=figure,
    data=data,
    remarks=remarks,
    motion=motion,
)
