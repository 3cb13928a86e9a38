"""Where a rolling disk goes, and which integrator knows it for how long."""

from studies.rolling_disk.picture import extras, figure, motion
from studies.rolling_disk.question import QUESTION, RollingDiskConfig, data, records, remarks, run
from studies.study import Study

ROLLING_DISK = Study(
    name="rolling-disk",
    question=QUESTION,
    config=RollingDiskConfig,
    run=run,
    records=records,
    columns={
        "part": "part",
        "method": "method",
        "step": "h [s]",
        "steps": "steps",
        "path_error": "path error [m]",
        "measured_order": "order",
        "energy_band": "max |ΔE| [J]",
        "energy_slope": "slope [J/s]",
        "integral_error": "Appell–Korteweg",
        "gap": "height [m]",
        "constraint_residual": "|A v| [m/s]",
        "found": "found",
        "expected": "in theory",
        "microseconds_per_step": "µs/step",
    },
    figure=figure,
    data=data,
    remarks=remarks,
    extras=extras,
    motion=motion,
)
