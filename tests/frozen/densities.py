"""Every density: laws of training and of new rows, moments, log densities, draws; with weights and categories."""

from functools import partial

import numpy as np
from sklearn.base import clone

from frozen import names
from frozen.names import (
    AtomicDensity,
    BestDensity,
    FactorAnalysis,
    Gaussian,
    GaussianMixture,
    JointGaussian,
    Marginals,
    Neighbours,
    density_for,
    sheather_jones,
    true_laws as laws_of_the_problem,
)
from frozen.rooms import Room
from frozen.tables import TABLES, WEIGHT, frame, numbers

ROOM = Room("densities")
D = 4
TIGHT = {"tol": 1e-9, "max_iter": 5000}
BLOCK = np.array([[1.0, 0.4], [0.4, 2.0]])

DENSITIES = {
    "gaussian": Gaussian(),
    "gaussian, ridge": Gaussian(ridge=0.01, **TIGHT),
    "one factor": FactorAnalysis(1, tol=1e-4),
    "factors": FactorAnalysis(),
    "factors, ridge": FactorAnalysis(2, ridge=0.05),
    "two components": GaussianMixture(2, random_state=0),
    "components": GaussianMixture(max_components=3, random_state=0),
    "best": BestDensity(random_state=0),
    "best, given": BestDensity([Gaussian(), FactorAnalysis(1)], cv=None, random_state=1),
    "joint gaussian": JointGaussian(),
    "joint factors": JointGaussian(gaussian=FactorAnalysis(1)),
    "windows": Marginals(),
    "windows, dpi": Marginals(bandwidth="dpi"),
    "windows of a width": Marginals(bandwidth=0.3),
    "normal columns": Marginals(numeric="gaussian"),
    "empirical columns": Marginals(numeric="empirical"),
    "box": Marginals(numeric="uniform", categorical="uniform"),
    "levels": Marginals(numeric="levels", categorical="uniform"),
    "neighbours": Neighbours(6, random_state=0),
    "neighbours, random": Neighbours(6, method="random", random_state=0),
    "atoms": AtomicDensity(n_atoms=6, random_state=0),
    "atoms of windows": AtomicDensity(Marginals(), n_atoms=6, method="random", random_state=0),
}
NUMBERS_ONLY = (
    "gaussian", "gaussian, ridge", "one factor", "factors", "factors, ridge",
    "two components", "components", "best", "best, given",
)  # fmt: skip


def answers(density, X, new, weight=None) -> dict:
    """Laws of new rows, moments, log densities and draws."""
    density = clone(density).fit(X, sample_weight=weight)
    rows, moments = density.condition(new), density.moments()
    some = [3, 5]  # the first lacks every value
    found = {
        "uncertain": rows.uncertain,
        "moments, mean": moments.mean,
        "moments, variances": moments.variances,
        "sample": density.sample(new, n_draws=1, random_state=0)[0, some],
    }
    categories = density.schema_.categorical.any()
    if not categories:
        found["moments, covariance"] = moments.covariance[np.triu_indices(len(moments.mean))]
    else:
        found["vectors"] = density.vectors(density.sample(new, random_state=1)[0, some])
    if not (categories and len(density.columns_) == len(density.schema_.levels)):  # codes have no mean
        found["means"] = rows.means[3:]
        found["total_variance"] = rows.total_variance
        found["covariance"] = rows.covariance_of(5)[np.triu_indices(rows.n_features)]
    if density.has_log_density:
        found["score_samples"] = density.score_samples(new)
    return found


for name, density in DENSITIES.items():
    ROOM.add(name, partial(answers, density, *TABLES["numbers"]))
    if name not in NUMBERS_ONLY:
        ROOM.add(f"{name}, frame", partial(answers, density, *TABLES["frame"]))
for name in ("gaussian", "one factor", "two components", "joint gaussian", "windows", "neighbours"):
    ROOM.add(f"{name}, weights", partial(answers, DENSITIES[name], *TABLES["numbers"], WEIGHT))
ROOM.add("joint gaussian, frame, weights", partial(answers, JointGaussian(), *TABLES["frame"], WEIGHT))
ROOM.add("gaussian, complete", partial(answers, Gaussian(), *TABLES["complete"]))
LAWS = {"size": "uniform", "weight": "empirical", "kind": "uniform"}
ROOM.add("laws of some columns", partial(answers, Marginals(laws=LAWS), *TABLES["frame"]))


@ROOM.group("known parameters")
def known_parameters():
    """Laws that nothing was fitted for."""
    X = numbers(2, 6)[:, :2]
    densities = {
        "gaussian": Gaussian.from_moments([0.0, 1.0], BLOCK),
        "factors": FactorAnalysis.from_parameters([0.0, 1.0], [[1.0], [0.5]], [0.3, 0.6]),
        "mixture": GaussianMixture.from_parameters([0.4, 0.6], [[0.0, 1.0], [2.0, -1.0]], [BLOCK, np.eye(2)]),
    }
    found = {}
    for name, density in densities.items():
        rows = density.condition(X)
        found |= {
            f"{name}, means": rows.means,
            f"{name}, total_variance": rows.total_variance,
            f"{name}, score_samples": density.score_samples(X),
            f"{name}, draws": density.sample(X, n_draws=2, random_state=3),
            f"{name}, quadratic": rows.quadratic([[1.0, -0.5]]),
            f"{name}, atoms": rows.atoms(4, "sobol", 2).unmasked.values,
            f"{name}, cell_nodes": np.array(density.cell_nodes(X[3:4], 1, 5)),
        }
    return found


@ROOM.group("what was fitted")
def what_was_fitted():
    """The parameters of models that EM fits."""
    X = TABLES["numbers"][0]
    gaussian, factors = Gaussian().fit(X), FactorAnalysis(2).fit(X)
    mixture = GaussianMixture(2, random_state=0).fit(X)
    best = BestDensity(random_state=0).fit(X)
    return {
        "gaussian, n_iter": gaussian.n_iter_,
        "gaussian, log_likelihood": gaussian.score(X),
        "factors, covariance": factors.covariance_,
        "factors, noise": factors.noise_,
        "mixture, weights": mixture.weights_,
        "mixture, means": mixture.means_,
        "best, scores": best.scores_,
        "best, index": best.best_index_,
    }


@ROOM.group("bandwidths")
def bandwidths():
    random = np.random.default_rng(0)
    samples = {
        "normal": random.standard_normal(60),
        "lumps": np.concatenate([random.standard_normal(20), 5 + 0.2 * random.standard_normal(30)]),
        "rounded": np.round(random.gamma(2.0, 2.0, 50)),
    }
    return {
        f"{name}, {method}": sheather_jones(x, method) for name, x in samples.items() for method in ("ste", "dpi")
    } | {
        "of columns": Marginals().fit(frame()).bandwidths_,
        "of columns, dpi": Marginals(bandwidth="dpi").fit(numbers()).bandwidths_,
    }


@ROOM.group("base measures")
def base_measures():
    """The completions that a word names: values, weights and how many of each row."""
    X = np.round(numbers(2, 8)[:, :3])
    found = {}
    for word in ("density", "uniform", "empirical", "exact"):
        rows = names.base_measure(word, n_atoms=3, random_state=0).fit(X).condition(X[4:])
        found |= {f"{word}, values": rows.values[:12], f"{word}, weight": rows.weight[:12]}
        found[f"{word}, counts"] = rows.counts
    return found


@ROOM.group("defaults")
def defaults():
    """Which density suits how many rows and columns, and a kernel."""
    by_size = [density_for(n, d) for n in (20, 1000) for d in (3, 30, 300)]
    machines = [names.SVC(kernel=kernel) for kernel in ("rbf", "ehk")]
    y = np.arange(40) % 2
    made = [machine.fit(TABLES[table][0], y).density_ for machine in machines for table in ("numbers", "frame")]
    return {name: [type(one).__name__ for one in each] for name, each in (("sizes", by_size), ("kernels", made))}


@ROOM.group("true laws")
def true_laws():
    """The laws that the synthetic problem is drawn from."""
    X, _ = names.make_ehk_synthetic(30, random_state=0)
    gappy = names.ampute(X, 0.3, random_state=0)
    density = Marginals(laws=laws_of_the_problem(), categorical="uniform").fit(gappy)
    moments = density.moments()
    likely = density.score_samples(gappy.iloc[:8])
    return {"mean": moments.mean, "variances": moments.variances, "score_samples": likely}
