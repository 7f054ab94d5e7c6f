"""Where everything that is frozen is found: one line for a thing that moves.

``from frozen.names import SVC`` looks the name up here. What is built from parameters that may move with it is built
by a function at the end.
"""

from importlib import import_module

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

HOMES = {
    "gapkernel": """ChainedEquations FourierClassifier FourierFeatures FourierRegressor GapClassifier GapRegressor
        GaussianProcessClassifier GaussianProcessRegressor Gram KernelRidge KernelRidgeCV MultipleImputationClassifier
        MultipleImputationRegressor Nystroem OneClassSVM SVC SVCCV SVR SVRCV TableModel ampute batches""",
    "gapkernel.papers.expected_kernel": "RobustSVC UnscaledExpectedRBF",
    "gapkernel.papers.genrbf": "GeometricMarginSVC Karma",
    "gapkernel.papers.genrbf.compared": "CANDIDATES",
    "gapkernel.papers.kernel_extension.synthetic": "make_ehk_synthetic true_laws",
    "gapkernel.papers.microbiology": "CategoricalNaiveBayes CompletionKernel MeanGram",
    "gapkernel.papers.missing_variables": "AtomicDensity",
    "gapkernel.kernels": """AnisotropicRBF ExpectedLinear ExpectedRBF GenRBF HeterogeneousKernel Missingness MonteCarlo
        OnColumns Product Scaled Sum make_kernel""",
    "gapkernel.kernels.missingness": "Masked",
    "gapkernel.kernels.univariate": "Laplacian",
    "gapkernel.density": """BestDensity FactorAnalysis Gaussian GaussianMixture JointGaussian Marginals
        Neighbours density_for sheather_jones""",
    "gapkernel.rows": "MaskedRows",
    "gapkernel.imputation": """GapFiller OneHotWithGaps baseline pool_scalar select_predictors
        usable_cases""",
    "gapkernel.missingness": "flux pairs patterns summary",
    "gapkernel.inspection": "coverage gap_drift shapley tipping_points value_of_information",
    "gapkernel.datasets": "make_source_tracking",
    "gapkernel.studies": """Candidate Grid Task all_pairs cell_tests choose folds friedman_nemenyi nested on_filled
        paired_test table_grid""",
    "gapkernel.studies.statistics": "sign_flip_pvalue",
}
"""The modules and what is taken from each; ``old=new`` for a thing that has another name there."""
HOME = {word.split("=")[0]: (home, word.split("=")[-1]) for home, words in HOMES.items() for word in words.split()}


def __getattr__(name: str):
    if name not in HOME:
        raise AttributeError(name)
    home, name_there = HOME[name]
    return getattr(import_module(home), name_there)


def with_mask(rows, X):
    """Laws that remember what was missing in the table."""
    from frozen.names import MaskedRows

    return MaskedRows(rows, np.isnan(X))


def masked(kernel, indicator):
    """A kernel on laws with one on their gaps, as an estimator makes it from ``indicator``."""
    from frozen.names import Masked

    return Masked(kernel, indicator)


def variance(kernel, left, right):
    """The variance of the kernel between independent rows."""
    from gapkernel.papers.expected_kernel import variances

    return variances.variance(kernel, left, right)


def gram_variance(kernel, rows):
    """The variance of the kernel within a batch."""
    from gapkernel.papers.expected_kernel import variances

    return variances.gram_variance(kernel, rows)


def column_covariances(kernel, rows):
    """For each row, the covariance matrix of its column of the kernel matrix."""
    from gapkernel.papers.expected_kernel import variances

    return [covariance.matrix() for covariance in variances.column_covariances(kernel, rows)]


def base_measure(word, n_atoms=None, method="sobol", random_state=None):
    """The density of the completions that a word names."""
    from frozen.names import AtomicDensity

    if word == "exact":
        return AtomicDensity("levels", method="exact")
    return AtomicDensity(WORDS.get(word, word), n_atoms=n_atoms, method=method, random_state=random_state)


WORDS = {"density": "auto", "empirical": "neighbours"}
MINIMISERS = {"cccp": "CCCP", "lbfgs": "LBFGS", "sgd": "SGD"}


def cccp(**options):
    """The classifier with missing variables; options are those of a fit as it is described below.

    ``loss``, ``C``, ``gamma``, ``kernel``, ``n_basis``, ``basis`` (a word), ``completions`` (a word),
    ``n_completions``, ``sampling``, ``solver`` (a word), ``max_iter``, ``tol``, ``transductive``,
    ``single_precision``, ``indicator``, ``class_weight``, ``fit_intercept``, ``sigma``, ``balance``,
    ``unlabelled_weight``.
    """
    from gapkernel.papers import missing_variables as room

    given = {"gamma": 0.2, "n_basis": 12, "n_completions": 4, "completions": "density"} | options
    given["C"] = given["sigma"] ** 2 if "sigma" in given else given.get("C", "cv")
    basis = {"size": given["n_basis"], "intercept": given.get("fit_intercept", True)}
    basis |= {"method": given["basis"]} if "basis" in given else {}
    basis |= {"single_precision": True} if given.get("single_precision") else {}
    minimiser = getattr(room, MINIMISERS[given.get("solver", "cccp")])
    solver = minimiser(**{name: given[name] for name in ("tol", "max_iter") if name in given})
    transduction = None
    if given.get("transductive"):
        transduction = room.Transduction(given.get("unlabelled_weight", 1.0), balance=given.get("balance", 0.0))
    kept = {name: given[name] for name in ("loss", "C", "kernel", "indicator", "class_weight") if name in given}
    kept |= {} if callable(given.get("kernel")) else {"gamma": given["gamma"]}  # a function has a width of its own
    return room.CCCPClassifier(
        **kept,
        density=base_measure(given["completions"], given["n_completions"], given.get("sampling", "sobol")),
        basis=None if given["n_basis"] is None else room.KernelBasis(**basis),
        solver=solver,
        transduction=transduction,
        random_state=0,
    )


def mean_kernel_pool(estimator, imputer):
    """A machine fitted to the mean of the kernel matrices of several completed tables."""
    from frozen.names import MeanGram

    return make_pipeline(MeanGram(imputer), clone(estimator).set_params(kernel="precomputed"))


def genrbf_protocol(**options):
    """The protocol of the genRBF paper's tasks."""
    from gapkernel.papers.genrbf.experiment import GenRBFProtocol

    return GenRBFProtocol(**options)


PAPERS = {
    "expected kernel": "gapkernel.papers.expected_kernel.experiment",
    "kernel extension": "gapkernel.papers.kernel_extension.table2",
    "missing variables": "gapkernel.papers.missing_variables.experiment",
    "microbiology": "gapkernel.papers.microbiology.experiment",
    "genrbf": "gapkernel.studies.protocol",
}


def paper(name: str):
    """The module in which a paper's tasks are done; each reads its tables by a ``load`` (or ``data``) of its own."""
    return import_module(PAPERS[name])


def candidate(name: str):
    """What studies try by this name, and the two rivals that only benchmarks try."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    from frozen.names import CANDIDATES, Candidate, GapFiller, OneHotWithGaps, on_filled

    def boosting(task: str, categories: bool):
        kind = HistGradientBoostingRegressor if task == "regression" else HistGradientBoostingClassifier
        return make_pipeline(OneHotWithGaps(), kind(random_state=0))

    trees = {"learning_rate": (0.05, 0.2), "max_leaf_nodes": (7, 31)}
    rivals = {
        "iterative": on_filled("iterative", "iterative", GapFiller(name="iterative", random_state=0)),
        "boosting": Candidate(name="boosting", estimator=boosting, grid=trees),
    }
    return (CANDIDATES | rivals)[name]


def scores(name: str, X, y, cv, grid, task: str):
    """The settings that a candidate tries, and what each scores on each split."""
    settings = candidate(name).settings(grid, task)
    return settings, candidate(name).scores(X, y, cv, settings, task)


def choice(name: str, X, y, cv, grid, task: str):
    """The settings that a candidate chooses, and their score."""
    from frozen.names import choose

    return choose(candidate(name), X, y, cv, grid, task)


def nested_result(name: str, X, y, train, test, grid):
    """What nested cross-validation says of a candidate on a split."""
    from frozen.names import nested

    return nested(candidate(name), X, y, train, test, grid, n_inner_folds=2, random_state=0)
