"""What happens to accuracy when more and more cells go missing, at fit and at predict.

Cells are removed at random from two tables that come with scikit-learn. Three machines with the same settings are
cross-validated on what is left: genRBF and expected RBF, which know what they do not know, and the usual recipe of
filling gaps with column means.
"""

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import gapkernel as gk

FRACTIONS = (0.0, 0.2, 0.4, 0.6, 0.8)
N_DRAWS = 3
TABLES = {"wine": load_wine, "breast cancer": load_breast_cancer}
MACHINES = {
    "genRBF": make_pipeline(StandardScaler(), gk.SVC(C=10, kernel="genrbf")),
    "expected RBF": make_pipeline(StandardScaler(), gk.SVC(C=10, kernel="rbf")),
    "mean imputation + SVC": make_pipeline(StandardScaler(), SimpleImputer(keep_empty_features=True), SVC(C=10)),
}


def accuracies(X, y, fraction):
    """Cross-validated accuracy of each machine, over draws of the missing cells: (machines, draws * folds)."""
    scores = []
    for draw in range(N_DRAWS):
        holes = np.random.default_rng(draw).random(X.shape) < fraction
        folds = StratifiedKFold(5, shuffle=True, random_state=draw)
        X_gaps = np.where(holes, np.nan, X)
        scores.append([cross_val_score(machine, X_gaps, y, cv=folds) for machine in MACHINES.values()])
    return np.concatenate(scores, axis=1)


def main():
    """Run the comparison and print one table for each data set."""
    console = Console()
    jobs = [(name, fraction) for name in TABLES for fraction in FRACTIONS]
    results = {}
    for name, fraction in track(jobs, description="Cross-validating", console=console, transient=True):
        results[name, fraction] = accuracies(*TABLES[name](return_X_y=True), fraction)
    for name, load in TABLES.items():
        n_rows, n_columns = load().data.shape
        table = Table(title=f"{name}: {n_rows} rows, {n_columns} columns", caption="accuracy in %, ± standard error")
        table.add_column("cells removed", justify="right")
        for machine in MACHINES:
            table.add_column(machine, justify="right")
        for fraction in FRACTIONS:
            scores = 100 * results[name, fraction]
            means, errors = scores.mean(axis=1), scores.std(axis=1, ddof=1) / np.sqrt(scores.shape[1])
            cells = [f"{mean:.1f} ± {error:.1f}" for mean, error in zip(means, errors, strict=True)]
            cells[int(means.argmax())] = f"[bold green]{cells[int(means.argmax())]}[/]"
            table.add_row(f"{fraction:.0%}", *cells)
        console.print(table)


if __name__ == "__main__":
    main()
