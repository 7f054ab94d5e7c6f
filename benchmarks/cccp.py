"""USPS digits with erased pixels: CCCPClassifier against mean imputation and complete data in the same basis.

The paper's protocol: up to 64 of the 256 pixels of every training image are erased at random, the test images are
whole; an RBF kernel, at most 1000 basis functions, 50 completions. Then pictures of what Sobol points and
transduction bring.
"""

import time
from concurrent.futures import ProcessPoolExecutor, as_completed

import numpy as np
from datasets import FOLDER
from measure import RESULTS, console, peak_mib, report
from sklearn.datasets import load_digits, make_moons

from gapkernel.density import Gaussian
from gapkernel.papers.missing_variables import LBFGS, AtomicDensity, CCCPClassifier, KernelBasis, Transduction

FOLDS = 3
GRIDS = {
    "gp": [(b, g, C) for b in ("kmeans", "auto") for g in (1 / 256, 1 / 128, 1 / 64) for C in (30.0, 100.0, 300.0)],
    "svm": [("kmeans", g, C) for g in (1 / 128, 1 / 64) for C in (10.0, 30.0)],
}
"""Basis, gamma and C to choose from; few for the slower loss."""

N_BASIS = 1000
SOLVER = LBFGS(1e-4, max_iter=400)


def usps():
    """Pixels from -1 to 1, and digits."""
    archive = np.load(FOLDER / "usps.npz")
    train, test = (archive[f"X_{part}"] / 1000.0 for part in ("train", "test"))
    return train, archive["y_train"].astype(int), test, archive["y_test"].astype(int)


def erased(X, most, rng, exactly=False):
    """Up to (or exactly) ``most`` pixels of each image removed; the number is uniform on 0, ..., most."""
    X = X.copy()
    for row in X:
        row[rng.choice(X.shape[1], most if exactly else rng.integers(0, most + 1), replace=False)] = np.nan
    return X


def training_images(kind, X, exactly):
    """The training table of a line, and where completions come from."""
    if kind == "whole":
        return X, "auto"
    gaps = erased(X, 64, np.random.default_rng(0), exactly)
    if kind == "mean":
        return np.where(np.isnan(gaps), np.nanmean(gaps, axis=0), gaps), "auto"
    if kind == "uniform":
        return gaps, "uniform"
    density = Gaussian(tol=1e-4).fit(gaps)  # once for all settings; its error is far below the sampling error
    return gaps, Gaussian(mean=density.mean_, covariance=density.covariance_)


def classifier(law, loss, basis, gamma, C):
    """The model of a line."""
    return CCCPClassifier(
        loss=loss,
        gamma=gamma,
        C=C,
        density=AtomicDensity(law),
        basis=KernelBasis(N_BASIS, method=basis, single_precision=True),
        solver=SOLVER,
        random_state=0,
    )


def error_of_fold(loss, basis, gamma, C, fold):
    """Error on the whole images of a fold, fitted to the mean-imputed images of the others."""
    X, y, *_ = usps()
    table, law = training_images("mean", X, exactly=False)
    held_out = np.random.default_rng(1).permutation(len(X)) % FOLDS == fold
    model = classifier(law, loss, basis, gamma, C)
    return 1 - model.fit(table[~held_out], y[~held_out]).score(X[held_out], y[held_out])


def chosen(pool, loss):
    """Basis, gamma and C with the least error in folds of the training images."""
    jobs = {s: [pool.submit(error_of_fold, loss, *s, fold) for fold in range(FOLDS)] for s in GRIDS[loss]}
    errors = {setting: np.mean([job.result() for job in folds]) for setting, folds in jobs.items()}
    for (basis, gamma, C), error in errors.items():
        console.print(f"{loss}, {basis}, gamma 1/{1 / gamma:.0f}, C {C:.0f}: {100 * error:.2f} % in folds")
    return min(errors, key=errors.get)


def measured(kind, exactly, loss, basis, gamma, C):
    """A line of the table: fitted on all training images."""
    X, y, test, truth = usps()
    begin = time.perf_counter()
    table, law = training_images(kind, X, exactly)
    model = classifier(law, loss, basis, gamma, C)
    peak = peak_mib(lambda: model.fit(table, y))
    seconds = time.perf_counter() - begin
    error = 100 * (1 - model.score(test, truth))
    name, paper = LINES[kind]
    name, paper = (name.replace("erased", "exactly 64 erased"), "") if exactly else (name, paper)
    return name, loss, BASES[basis], f"{error:.2f} %", paper, f"{seconds:.0f} s", f"{peak / 1024:.1f} GiB"


BASES = {"kmeans": "centres", "auto": "pivoted Cholesky"}

LINES = {
    "density": ("erased, CCCPClassifier, density", "5.8 %"),
    "uniform": ("erased, CCCPClassifier, uniform", "5.8 %"),
    "mean": ("erased, mean imputation", "6.08 %"),
    "whole": ("whole", "4.0 %"),
}

NOTES = """
Test error on the 2007 whole test images. Erased: from each of the 7291 training images a number of pixels drawn
uniformly from 0 to 64 (a reading of the paper's "up to 25 %"), or exactly 64 where it says so. Pixels from -1 to 1,
1000 basis functions, 50 Sobol completions, features in single precision, solver L-BFGS to 1e-4. The basis is
`KernelBasis(method="kmeans")` (centres of clusters) or `method="auto"` (the paper's pivoted Cholesky, here over
mean-completed rows, since few images are whole). For each loss, gamma, C and the basis were chosen once for all lines
by {folds}-fold cross-validation on the mean-imputed training images: "gp" from gamma 1/256, 1/128, 1/64, C 30, 100,
300 and both bases (gamma 1/{gp_g:.0f}, C {gp_C:.0f}), "svm" from gamma 1/128, 1/64 and C 10, 30 with centres (gamma
1/{svm_g:.0f}, C {svm_C:.0f}). The lines with the other basis have the same gamma and C.

The test images were used for these tables alone, but not once only: a first table, with settings chosen for each
line on one split of the training images, loss "gp" and the pivoted basis, had 5.93 % with "density", 5.88 %
"uniform", 6.48 % mean imputation and 5.83 % whole; centres were then introduced because they did better in folds,
and the loss "svm" was added last.

"density" is the library's default base measure, one Gaussian over the 256 pixels given the observed ones, fitted by
EM to the training images; "uniform" is the paper's, every erased pixel uniform over its range. The paper's own
numbers are its best over its settings; it names neither its regularisation nor how many pixels each image lost. One
image is 0.05 points, and the standard error of a line 0.5.

Each line was measured in a process of its own with one thread, two at a time. The time is that of one fit with its
EM; memory is what the process gained.
"""


def digits_table():
    """The USPS table, a line as soon as it is known."""
    rows: dict = {}
    with ProcessPoolExecutor(2) as pool:
        best = {loss: chosen(pool, loss) for loss in GRIDS}
        basis, gamma, C = best["gp"]
        other = ("auto" if basis == "kmeans" else "kmeans", gamma, C)
        lines = [
            *((kind, False, "gp", *best["gp"]) for kind in LINES),
            *((kind, False, "svm", *best["svm"]) for kind in LINES if kind != "uniform"),
            *((kind, True, "gp", *best["gp"]) for kind in ("density", "mean")),
            *((kind, False, "gp", *other) for kind in LINES),
        ]
        jobs = {pool.submit(measured, *line): place for place, line in enumerate(lines)}
        for done in as_completed(jobs):
            rows[jobs[done]] = done.result()
            console.print(rows[jobs[done]])
            write_table([rows[place] for place in sorted(rows)], best)


def write_table(rows, best):
    """The lines that are known, and how they came about."""
    header = ("training images", "loss", "basis", "test error", "paper", "fit", "memory")
    settings = {
        f"{loss}_{name}": value for loss, s in best.items() for name, value in zip(("g", "C"), s[1:], strict=True)
    }
    settings["gp_g"], settings["svm_g"] = 1 / settings["gp_g"], 1 / settings["svm_g"]
    title = "USPS digits, up to 64 of 256 pixels erased in training, 1000 basis functions"
    report("cccp", title, header, rows, NOTES.format(folds=FOLDS, **settings) + PICTURE)


PICTURE = """
![Sobol points and transduction](cccp.png)

Left: error of log E exp f over a row's gaps against the number of completions (200 normal rows, three gaps each, a
closed form to compare with). Middle: two moons, three labels for each class, the transductive solution. Right: share
of right labels on the unlabelled rows, supervised against `transduction=Transduction()`, over ten draws of two moons
and of 600 digits (10 % gaps).
"""


def few_labels(y, per_class, rng):
    """All but some labels of each class replaced by -1."""
    kept = np.concatenate([rng.choice(np.flatnonzero(y == k), per_class, replace=False) for k in np.unique(y)])
    return np.where(np.isin(np.arange(len(y)), kept), y, -1)


def transduction(draw, loss, **options):
    """Share of right labels on the unlabelled rows of ten draws, supervised and transductive; and the last model."""
    shares = []
    for seed in range(10):
        X, y, labels = draw(seed)
        models = [
            CCCPClassifier(loss=loss, transduction=wish, solver=LBFGS(max_iter=3000), random_state=0, **options)
            for wish in (None, Transduction())
        ]
        hidden = labels == -1
        shares.append([np.mean(m.fit(X, labels).transduction_[hidden] == y[hidden]) for m in models])
    return np.array(shares), models[1], (X, y, labels)


def moons(seed):
    """Two moons with three labels for each class and one cell in fifty missing."""
    rng = np.random.default_rng(seed)
    X, y = make_moons(200, noise=0.1, random_state=seed)
    X[rng.random(X.shape) < 0.02] = np.nan
    return X, y, few_labels(y, 3, rng)


def digits(seed):
    """600 digits of 8 x 8 pixels, two labels for each class, every tenth pixel missing."""
    rng = np.random.default_rng(seed)
    X, y = load_digits(return_X_y=True)
    picked = rng.choice(len(X), 600, replace=False)
    X, y = X[picked] / 16, y[picked]
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y, few_labels(y, 2, rng)


def log_mean_error(method, n, n_rows=200):
    """Root mean squared error of log E exp <a, x> over three gaps of normal rows, against <a, m> + a'Sa / 2."""
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(4, 4)) / 2
    density = Gaussian.from_moments(np.zeros(4), factor @ factor.T + 0.3 * np.eye(4))
    X = np.column_stack([rng.normal(size=n_rows), np.full((n_rows, 3), np.nan)])
    a, rows = np.array([0.3, 0.5, -0.4, 0.6]), density.condition(X)
    exact = rows.means @ a + 0.5 * a @ rows.covariance_of(0) @ a
    drawn = AtomicDensity(density, n_atoms=int(n), method=method, random_state=1).fit(X).condition(X)
    values = drawn.values.reshape(n_rows, n, 4)
    return np.sqrt(np.mean((np.log(np.exp(values @ a).mean(axis=1)) - exact) ** 2))


def picture():
    """Sobol against random completions, and transduction against supervision."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(15, 4.4), layout="constrained")
    sizes = 2 ** np.arange(3, 13)
    for method, colour in (("random", "tab:orange"), ("sobol", "tab:blue")):
        errors = [log_mean_error(method, n) for n in sizes]
        rate = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
        axes[0].loglog(sizes, errors, "o-", color=colour, label=f"{method}: n^{rate:.2f}")
    axes[0].set(xlabel="completions n", ylabel="error of log E exp f", title="the sum over completions")
    axes[0].legend()
    places = []
    for loss in ("gp", "svm"):
        for name, draw, options in (
            ("moons", moons, {"gamma": 15.0, "C": 10.0, "density": AtomicDensity(n_atoms=16), "basis": 100}),
            ("digits", digits, {"gamma": 0.3, "C": 10.0, "density": AtomicDensity(n_atoms=4), "basis": 200}),
        ):
            shares, model, data = transduction(draw, loss, **options)
            console.print(name, loss, shares.mean(axis=0), (np.diff(shares, axis=1) > 0).sum())
            place = len(places)
            places.append(f"{name}\n{loss}")
            axes[2].plot([place - 0.15, place + 0.15], shares.T, "o-", color="tab:grey", alpha=0.5, markersize=3)
            means = shares.mean(axis=0)
            axes[2].plot([place - 0.15, place + 0.15], means, "o-", color="tab:red", linewidth=2)
            for x, mean in zip((place - 0.15, place + 0.15), means, strict=True):
                axes[2].annotate(f"{mean:.2f}", (x, mean), textcoords="offset points", xytext=(0, 6), ha="center")
            if (name, loss) == ("moons", "gp"):
                _draw_moons(axes[1], model, *data)
    axes[2].set_xticks(range(len(places)), places)
    axes[2].set(ylabel="right labels", title="supervised (left) and transductive (right), ten draws")
    figure.savefig(RESULTS / "cccp.png", dpi=110)


def _draw_moons(ax, model, X, y, labels):
    """Probabilities over the plane, the rows, and the few labels."""
    complete = ~np.isnan(X).any(axis=1)
    sides = [np.linspace(np.nanmin(c) - 0.3, np.nanmax(c) + 0.3, 120) for c in X.T]
    grid = np.stack(np.meshgrid(*sides), axis=-1)
    probability = model.predict_proba(grid.reshape(-1, 2))[:, 1].reshape(grid.shape[:2])
    ax.contourf(*sides, probability, levels=np.linspace(0, 1, 11), cmap="RdBu_r", alpha=0.6)
    ax.scatter(*X[complete].T, c=y[complete], cmap="RdBu_r", s=10, edgecolors="k", linewidths=0.3)
    known = complete & (labels != -1)
    ax.scatter(*X[known].T, c=y[known], cmap="RdBu_r", s=130, marker="*", edgecolors="k")
    ax.set(title="two moons, six labels (stars), transductive")


def run():
    """Write the table and the picture."""
    picture()
    digits_table()
