"""Statistics along the way: what `integrate(…, statistics=[…])` gathers while it goes on, no trajectory being stored.

A statistic says which quantity it watches and keeps sums that do not grow with the number of steps: moments,
histograms, slopes, sections, first passages.  Samples are folded in blocks that their numbers decide, and
trajectories are put
together in their order: lanes, threads, processes and clusters give the same bits.
"""

from integrators.statistics.crossings import FirstPassage, Section
from integrators.statistics.gathered import Statistics
from integrators.statistics.samples import Histogram, Moments, Slope
from liegroup.modules import listing

__all__ = ["FirstPassage", "Histogram", "Moments", "Section", "Slope", "Statistics"]
__dir__ = listing(__all__)
