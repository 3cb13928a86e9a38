"""Orders of every method on every group."""

from studies.convergence.picture import figure
from studies.convergence.question import QUESTION, ConvergenceConfig, data, records, remarks, run
from studies.study import Study

CONVERGENCE = Study(
    name="convergence",
    question=QUESTION,
    config=ConvergenceConfig,
    run=run,
    records=records,
    columns={
        "method": "method",
        "system": "group",
        "claimed_order": "claimed",
        "measured_order": "measured",
        "agrees": "agrees",
        "least_error": "least error",
    },
    figure=figure,
    data=data,
    remarks=remarks,
)
