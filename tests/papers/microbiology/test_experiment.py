"""The microbiology experiment: its approaches are estimators of the library and of the room."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.svm import SVC as CompleteSVC

import gapkernel as gk
from gapkernel.papers.microbiology import CompletionKernel, experiment as microbiology
from gapkernel.papers.microbiology.experiment import FoldOfTable1, overlap
from gapkernel.studies import Task


@pytest.mark.parametrize("method", ["1ke", "2ke", "1mi", "2mi"])
def test_the_four_approaches_are_the_librarys_estimators(method):
    task = Task("source_tracking", method)
    X, y = microbiology.table(task, None)
    train, test = np.arange(0, 138, 2), np.arange(1, 138, 2)
    protocol = FoldOfTable1(Cs=(0.5, 2.0), n_imputations=3)
    everything = np.ones(9, bool)
    for C, guess in zip(protocol.Cs, protocol.predictions(task, X, y, train, test), strict=True):
        if method in ("1ke", "2ke"):
            kernel = "ehk" if method == "1ke" else CompletionKernel()
            estimator = gk.SVC(kernel=kernel, C=C, categorical_features=everything, break_ties=True)
        else:
            pooling = "stack" if method == "1mi" else "average"
            imputer = protocol.imputer(X[train], task.split_seed)
            estimator = gk.MultipleImputationClassifier(CompleteSVC(kernel=overlap, C=C), imputer, pooling=pooling)
        expected = estimator.fit(X[train], y[train]).predict(X[test])
        agree = np.mean(guess == expected)
        assert agree == 1 if method != "1mi" else agree > 0.95  # repeated rows: libsvm stops elsewhere


def test_overlap_is_the_share_of_equal_columns():
    assert_array_equal(overlap(np.array([[0.0, 1.0], [2.0, 2.0]]), np.array([[0.0, 2.0]])), [[0.5], [0.5]])
