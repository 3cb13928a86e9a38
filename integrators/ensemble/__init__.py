"""Ensembles beyond one process: chunks of trajectories or of problems on the workers of a cluster.

`submit` sends them, to Dask (extra ``dask``) or to any executor of the standard library's kind; a `Campaign` is what
comes back, with the bits of one machine; `joined` puts ensembles together.  One process uses its cores by itself:
``integrate(…, workers=n)``.
"""

from integrators.ensemble.campaign import Campaign, submit
from integrators.ensemble.joined import joined
from liegroup.modules import listing

__all__ = ["Campaign", "joined", "submit"]
__dir__ = listing(__all__)
