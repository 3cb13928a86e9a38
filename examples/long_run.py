"""A run that is killed and goes on: bit for bit as if nothing had happened.

Kepler's problem for two million steps.  A checkpoint is kept while it runs; the callback stops the run somewhere, as
Ctrl-C would; `resume` takes it to its end.
"""

import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from integrators import integrate, resume
from mechanics.systems import kepler

problem = kepler(eccentricity=0.5)
options = {"t_span": (0, 2e4), "step": 0.01}
with tempfile.TemporaryDirectory() as folder:
    checkpoint = Path(folder) / "kepler.checkpoint"
    part = integrate(problem, "SPLIT_SRKN6_11B", **options, checkpoint=checkpoint, callback=lambda t, y: t > 5e3)
    print(part.message)
    whole = resume(checkpoint, problem)
    print(f"{whole.message}; relative error of the energy {whole.error('energy'):.1e}")
    assert np.array_equal(whole.y, integrate(problem, "SPLIT_SRKN6_11B", **options).y)
    whole.save(Path(folder) / "kepler.h5")  # xarray.open_dataset(…, engine="h5netcdf")

fig = Figure(figsize=(6.0, 2.8), layout="constrained")
ax = fig.subplots()
ax.plot(whole.t, (whole["energy"] / whole["energy"][0] - 1) * 1e15, lw=0.4)
ax.axvspan(0, part.t[-1], color="0.9", label="before the interruption")
ax.set(xlabel="t", title="relative change of the energy [10⁻¹⁵]")
ax.legend(loc="lower right")
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
