"""Operations of the three algorithms for a chain of hinges."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from mechanics.reference.operation_counts import OPERATIONS, star

lengths = np.unique(np.geomspace(2, 40, 20).astype(int))
fig = Figure(figsize=(6.0, 3.4), layout="constrained")
ax = fig.subplots()
for name in ("TSP", "OSP", "ERA"):
    ax.loglog(lengths, [OPERATIONS[name](*star(1, int(n), 1)) for n in lengths], label=name)
ax.set(xlabel="links in the chain", title="operations of one evaluation")
ax.legend()
fig.savefig(Path(__file__).with_suffix(".png"), dpi=110)
