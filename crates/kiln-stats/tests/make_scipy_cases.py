"""Writes scipy_cases.json beside this file: inputs with the answers of NumPy and SciPy. The Rust test reads the file and
needs no Python. Run again only to add cases:

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install numpy scipy
    /tmp/venv/bin/python crates/kiln-stats/tests/make_scipy_cases.py
"""

import json
import pathlib

import numpy as np
import scipy
from scipy import stats
from scipy.stats import _resampling
from scipy.stats._mannwhitneyu import _mwu_state

rng = np.random.default_rng(20240607)


def times(n, ticks=False):
    """Skewed times around 1; with ticks, many are equal."""
    values = 1 + 0.05 * rng.lognormal(0, 0.6, n)
    return np.round(values, 2 if ticks else 9)


def summaries():
    for n in [1, 2, 3, 7, 100, 1001]:
        x = times(n)
        yield {
            "x": x.tolist(),
            "p": [0, 1, 5, 37.5, 50, 95, 99, 100],
            "percentiles": np.percentile(x, [0, 1, 5, 37.5, 50, 95, 99, 100]).tolist(),
            "mean": x.mean(),
            "sd": x.std(ddof=1) if n > 1 else None,
            "cv": stats.variation(x, ddof=1) if n > 1 else None,
            "mad": stats.median_abs_deviation(x),
        }


def mann_whitney():
    shapes = [(1, 1), (3, 4), (5, 5), (8, 12), (20, 25), (7, 30), (40, 60), (100, 100)]
    for n, m in shapes:
        for shift in [0, 0.02, -0.04]:
            for ticks in [False, True]:
                x, y = times(n, ticks), times(m, ticks) + shift
                y = np.round(y, 9)
                case = {"x": x.tolist(), "y": y.tolist()}
                tied = len(set(x) | set(y)) < n + m
                methods = ["asymptotic"] if tied or n * m > 1000 else ["asymptotic", "exact"]
                for method in methods:
                    for alternative in ["two-sided", "less", "greater"]:
                        result = stats.mannwhitneyu(x, y, alternative=alternative, method=method)
                        case["u"] = result.statistic
                        case[f"{method} {alternative}"] = result.pvalue
                # All values equal has no answer in SciPy.
                if not any(np.isnan(v) for v in case.values() if isinstance(v, float)):
                    yield case


def hodges_lehmann():
    for n, m in [(1, 1), (2, 5), (6, 6), (15, 20), (25, 25), (30, 40), (100, 100)]:
        x, y = times(n), np.round(times(m) + 0.01, 9)
        differences = np.subtract.outer(x, y).ravel()
        ratios = np.divide.outer(x, y).ravel()
        ordered = np.sort(differences)
        case = {
            "x": x.tolist(),
            "y": y.tolist(),
            "shift": np.median(differences),
            "ratio": np.exp(np.median(np.log(ratios))),
            "delta": np.sign(differences).mean(),
        }
        if max(n, m) <= 25:
            # The interval holds the shifts that the exact two-sided test at 5 % does not reject: step over its ranks.
            u = np.arange(n * m + 1)
            _mwu_state.s.set_shapes(n, m)
            below = np.array([_mwu_state.s.cdf(k) for k in u])
            rank = int(np.max(np.append(u[below <= 0.025], 0)))
            case["interval"] = [ordered[rank], ordered[n * m - 1 - rank]]
            case["confidence"] = 1 - 2 * float(below[rank])
        yield case


def drift():
    for n in [3, 10, 50, 200]:
        for slope in [0, 0.001]:
            for ticks in [False, True]:
                y = np.round(times(n, ticks) + slope * np.arange(n), 2 if ticks else 9)
                tau = stats.kendalltau(np.arange(n), y, method="asymptotic")
                line = stats.theilslopes(y)
                # All values equal has no tau in SciPy.
                if not np.isnan(tau.statistic):
                    yield {
                        "y": y.tolist(),
                        "slope": line.slope,
                        "start": line.intercept,
                        "tau": tau.statistic,
                        "p_value": tau.pvalue,
                    }


def bca():
    for statistic in [np.mean, np.median, np.std]:
        for n, confidence in [(5, 0.9), (30, 0.95), (100, 0.99)]:
            x = times(n)

            # Short numbers, so that every reader of JSON sees the same ties.
            def figure(v, axis=-1):
                return np.round(statistic(v, axis=axis), 9)

            resampled = figure(rng.choice(x, (199, n)))
            low, high, acceleration = _resampling._bca_interval(
                [x], figure, -1, (1 - confidence) / 2, resampled, None, np
            )
            yield {
                "estimate": float(figure(x)),
                "resampled": resampled.tolist(),
                "left_out": [float(figure(np.delete(x, i))) for i in range(n)],
                "confidence": confidence,
                "acceleration": float(np.ravel(acceleration)[0]),
                "low": float(np.ravel(low)[0]),
                "high": float(np.ravel(high)[0]),
            }


def normal():
    for p in [1e-300, 1e-100, 1e-15, 1e-6, 0.01, 0.02425, 0.025, 0.1, 0.4, 0.5, 0.6, 0.975, 0.999999]:
        yield {"p": p, "z": stats.norm.ppf(p)}
    for z in [-35, -8, -3, -2.83, -2.82, -1, -1e-3, 0, 0.5, 1.96, 2.82, 2.83, 3, 8, 35]:
        yield {"z": z, "cdf": stats.norm.cdf(z), "sf": stats.norm.sf(z)}


def student():
    for freedom in [1, 2, 3, 4, 5, 10, 49, 99, 500, 9999]:
        for p in [0.001, 0.025, 0.3, 0.5, 0.9, 0.975, 0.9995]:
            yield {"p": p, "freedom": freedom, "t": stats.t.ppf(p, freedom)}


def autocorrelation():
    for n in [2, 10, 200]:
        x = np.cumsum(rng.normal(size=n)) * 0.01 + times(n)
        d = x - x.mean()
        full = np.correlate(d, d, "full")[n - 1 :]
        yield {"x": x.tolist(), "lags": (full / full[0])[1:6].tolist()}


def plain(value):
    return float(value) if isinstance(value, (np.floating, float)) else value


groups = [summaries, mann_whitney, hodges_lehmann, drift, bca, normal, student, autocorrelation]
cases = {"made_with": {"numpy": np.__version__, "scipy": scipy.__version__}}
for group in groups:
    cases[group.__name__] = [{key: plain(value) for key, value in case.items()} for case in group()]
out = pathlib.Path(__file__).with_name("scipy_cases.json")
rows = ",\n".join(
    f'"{name}": ' + (json.dumps(group) if name == "made_with" else "[\n" + ",\n".join(map(json.dumps, group)) + "\n]")
    for name, group in cases.items()
)
out.write_text("{\n" + rows + "\n}\n")
