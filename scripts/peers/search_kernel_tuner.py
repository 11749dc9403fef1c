"""One search with a strategy of Kernel Tuner on a recorded space: what it evaluated, in order."""

import random
import warnings

# python-constraint2 compiles each condition in several guises; CPython warns about some of them.
warnings.filterwarnings("ignore")

import numpy as np
from constraint import FunctionConstraint
from kernel_tuner import util
from kernel_tuner.interface import Options, strategy_map
from kernel_tuner.runners.simulation import SimulationRunner
from kernel_tuner.searchspace import Searchspace

ERRORS = {"CompilationFailedConfig": util.CompilationFailedConfig, "compile": util.CompilationFailedConfig}


class Cache(dict):
    """The record, remembering what was looked up for the first time: the simulation runner asks it once for each
    evaluation, and again for repeated ones, which cost nothing."""

    def __init__(self, rows):
        super().__init__(rows)
        self.order = []
        self.seen = set()

    def __getitem__(self, key):
        if key not in self.seen:
            self.seen.add(key)
            self.order.append(key)
        return super().__getitem__(key)


def search(recording, rules, strategy, seed, budget):
    random.seed(seed)
    np.random.seed(seed)
    names = list(recording.params)
    rows = {}
    for config, time in recording.rows.items():
        row = dict(zip(names, config), compile_time=0, verification_time=0, benchmark_time=0)
        # A failed configuration answers as it does while tuning: with an error, at the cost of an evaluation.
        if isinstance(time, str):
            row["time"] = row["__error__"] = ERRORS.get(time, util.RuntimeFailedConfig)()
        else:
            row["time"] = time
        rows[",".join(map(str, config))] = row
    cache = Cache(rows)
    params = {name: list(values) for name, values in recording.params.items()}
    if rules is None:
        # Without rules the record itself says what is valid.
        valid = set(recording.rows)
        rules = [FunctionConstraint(lambda *config: config in valid)]
    # Made here, in this repeat's own process: a shared one keeps its neighbours from repeat to repeat.
    space = Searchspace(params, rules, 1_000_000_000)
    assert space.size == len(rows), f"{space.size} configurations instead of {len(rows)}"

    options = {"max_fevals": budget}
    if strategy == "dual_annealing":
        # Its cap counts every call, also those that cost nothing: lifted, the budget below ends the search.
        options = {"max_fevals": 10**9}
    tuning = Options(
        strategy_options=Options(options),
        max_fevals=budget,
        budget=util.TuningBudget(None, min(budget, space.size)),
        objective=["time"],
        objective_higher_is_better=[False],
        tune_params=params,
        restrictions=space._modified_restrictions,
        cache=cache,
        cachefile=None,
        metrics=None,
        verbose=False,
        simulation_mode=True,
        seed=seed,
    )
    runner = SimulationRunner(
        None, Options(kernel_name="recorded"), Options(quiet=True, platform=0, device=0), 1, None
    )
    error = None
    try:
        strategy_map[strategy].tune(space, runner, tuning)
    except Exception as problem:  # what it found until then counts, as it would for a user
        error = f"{type(problem).__name__}: {problem}"[:200]
    times = [rows[key]["time"] for key in cache.order[:budget]]
    return [None if isinstance(time, str) else time for time in times], error
