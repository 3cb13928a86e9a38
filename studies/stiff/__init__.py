"""Newton's iteration on stiff mechanisms, with three Jacobians."""

from studies.stiff.picture import figure, motion
from studies.stiff.question import QUESTION, StiffConfig, data, records, remarks, run
from studies.study import Study

STIFF = Study(
    name="stiff",
    question=QUESTION,
    config=StiffConfig,
    run=run,
    records=records,
    columns={
        "system": "bushings",
        "stiffness": "k [N/m]",
        "jacobian": "Jacobian",
        "contraction": "contraction",
        "iterations": "iterations",
        "cg_steps": "CG steps",
    },
    figure=figure,
    data=data,
    remarks=remarks,
    motion=motion,
)
