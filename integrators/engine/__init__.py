"""Running: compiled loops over steps, and what drives them.

The words, each with one meaning:

==========  ==========================================================================================================
step        the compiled function of a method that takes a state from t to t + h
loop        a compiled loop over steps, fixed or adaptive (`fixed_loop`, `adaptive_loop`); its arguments are `records`
run         one trajectory in progress, or eight in lanes, with the arrays of its loop (`FixedRun`, `LaneRun`,
            `AdaptiveRun`); `run.go(count)` takes some steps more.  In `PacedLanes` eight `AdaptiveRun`s take steps of
            their own together
way         how the steps of a run are chosen: a `Plan` of equal ones, or the `Steering` of a controller
drive       to bring runs to their end in chunks, with progress, callbacks, checkpoints and Ctrl-C
collect     to make one solution of runs
step map    a step of a method as a map of states, for studies (`integrators.method.step_map`)
==========  ==========================================================================================================
"""

from liegroup.modules import listing

__all__: list[str] = []
__dir__ = listing(__all__)
