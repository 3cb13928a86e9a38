"""Energy, momenta and cost of long runs: mechanisms × methods × steps."""

from studies.energy_table.picture import figure, motion
from studies.energy_table.question import QUESTION, EnergyTableConfig, data, records, remarks, run
from studies.study import Study

ENERGY_TABLE = Study(
    name="energy-table",
    question=QUESTION,
    config=EnergyTableConfig,
    run=run,
    records=records,
    columns={
        "model": "mechanism",
        "method": "method",
        "size": "step",
        "energy_band": "max |ΔE|/T*",
        "energy_slope": "slope [1/s]",
        "energy_slope_sigma": "± sigma",
        "drifts": "drifts",
        "momentum_error": "momentum error",
        "microseconds_per_step": "µs/step",
        "cost_said": "µs/s at equal error",
        "status": "status",
    },
    figure=figure,
    data=data,
    remarks=remarks,
    motion=motion,
)
