"""One search with Optuna's TPE on a recorded space: what it evaluated, in order.

Every tunable is a categorical of its values. Optuna knows no rules between tunables: a proposal that is not valid, or
was evaluated before, is told as pruned (which TPE ranks last) or with its known time, and costs nothing.
"""

import warnings

import optuna

warnings.filterwarnings("ignore")
optuna.logging.set_verbosity(optuna.logging.ERROR)

# A space with few valid configurations must not keep it asking for ever.
ASKS = 20


def search(recording, _rules, _strategy, seed, budget):
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    names = list(recording.params)
    # A list of one value is nothing to choose.
    spaces = {
        name: optuna.distributions.CategoricalDistribution(values)
        for name, values in recording.params.items()
        if len(values) > 1
    }
    order, seen = [], set()
    budget = min(budget, len(recording.rows))
    for _ in range(ASKS * budget):
        trial = study.ask(spaces)
        config = tuple(trial.params.get(name, recording.params[name][0]) for name in names)
        time = recording.rows.get(config, "not valid")
        if isinstance(time, str):
            study.tell(trial, state=optuna.trial.TrialState.PRUNED)
        else:
            study.tell(trial, time)
        if config in recording.rows and config not in seen:
            seen.add(config)
            order.append(None if isinstance(time, str) else time)
            if len(order) == budget:
                return order, None
    return order, f"{len(order)} of {budget} evaluations after {ASKS * budget} proposals"
