"""Efficiency of three formulations of trees and of algorithms for mass matrices: formulas, counts, times."""

from studies.efficiency.picture import figure
from studies.efficiency.question import QUESTION, EfficiencyConfig, data, records, remarks, run
from studies.study import Study

EFFICIENCY = Study(
    name="efficiency",
    question=QUESTION,
    config=EfficiencyConfig,
    run=run,
    records=records,
    columns={
        "system": "system",
        "source": "source",
        "share_TSP": "TSP",
        "share_OSP": "OSP",
        "share_ERA": "ERA",
        "last_length_of_TSP": "TSP up to",
        "ERA_over_TSP_longest": "ERA/TSP",
        "ERA_over_OSP_longest": "ERA/OSP",
        "multiplications": "mul",
        "additions": "add",
        "operations": "total",
        "method": "method",
        "step": "step",
        "energy_error_momenta": "error (q, p)",
        "energy_error_velocities": "error (q, v)",
    },
    figure=figure,
    data=data,
    remarks=remarks,
)
