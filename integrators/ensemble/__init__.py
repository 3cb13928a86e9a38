"""Ensembles beyond one process: chunks of trajectories or of problems on the workers of a cluster.

`submit` sends them, to Dask (extra ``dask``) or to any executor of the standard library's kind; a `Campaign` is what
comes back, with the bits of one machine; `joined` puts ensembles together; `draws` gives random cases; `on_gpu` prints
the steps for CUDA and runs them one trajectory a thread.  One process uses its cores by itself:
``integrate(…, workers=n)``.
"""

from integrators.ensemble.campaign import Campaign, submit
from integrators.ensemble.device import on_gpu
from integrators.ensemble.draws import draws
from integrators.ensemble.joined import joined
from liegroup.modules import listing

__all__ = ["Campaign", "draws", "joined", "on_gpu", "submit"]
__dir__ = listing(__all__)
