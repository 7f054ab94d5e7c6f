"""Do the chains mix? Means and deviations of the imputed values, sweep by sweep."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gapkernel.plots.drawing import pyplot


@dataclass(kw_only=True, eq=False)
class ChainDisplay:
    """Mean and standard deviation of the imputed values after each sweep, one line for each chain.

    Chains that mix are freely mingled and without trend. Build it with `from_estimator`.

    Parameters
    ----------
    means, variances : ndarray of shape (n_imputations, n_sweeps, n_columns)
        Of the imputed cells of each column, after each sweep.
    names : list of str
        The columns.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes of shape (n_columns, 2)
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure around it.

    Examples
    --------
    >>> import numpy as np
    >>> from gapkernel import ChainedEquations
    >>> from gapkernel.plots import ChainDisplay
    >>> X = np.array([[1.0, 2.1], [2.0, np.nan], [3.0, 6.2], [np.nan, 7.8], [5.0, 9.9], [6.0, np.nan]])
    >>> display = ChainDisplay.from_estimator(ChainedEquations(random_state=0).fit(X))  # doctest: +SKIP
    """

    means: np.ndarray
    variances: np.ndarray
    names: list[str]

    @classmethod
    def from_estimator(cls, estimator, *, columns=None, axes=None) -> ChainDisplay:
        """Plot the chains of a fitted `ChainedEquations`.

        Parameters
        ----------
        estimator : ChainedEquations
        columns : list of int or str, default=None
            The columns to plot; None is every column with gaps in `fit`.
        axes : array of matplotlib Axes of shape (n_columns, 2), default=None
            Where to plot; None makes a new figure.

        Returns
        -------
        display : ChainDisplay
        """
        check_is_fitted(estimator)
        names = estimator.schema_.names
        incomplete = np.flatnonzero(~np.isnan(estimator.chain_means_).all(axis=(0, 1))).tolist()
        if columns is None:
            wanted = incomplete
        else:
            wanted = estimator.schema_.places(columns, "columns")
            without = sorted(set(wanted) - set(incomplete))
            if without:
                raise ValueError(f"columns holds {without}, which had no gaps in fit. Leave them out.")
        if not len(wanted):
            raise ValueError("No column had gaps in fit, so there is nothing to plot.")
        labels = [str(names[j]) if names is not None else f"column {j}" for j in wanted]
        display = cls(
            means=estimator.chain_means_[:, :, wanted], variances=estimator.chain_variances_[:, :, wanted], names=labels
        )
        return display.plot(axes=axes)

    def plot(self, *, axes=None) -> ChainDisplay:
        """Draw the lines.

        Parameters
        ----------
        axes : array of matplotlib Axes of shape (n_columns, 2), default=None

        Returns
        -------
        self : ChainDisplay
        """
        if axes is None:
            plt = pyplot("ChainDisplay")
            size = (8, 1 + 1.8 * len(self.names))
            _, axes = plt.subplots(len(self.names), 2, figsize=size, sharex=True, squeeze=False, layout="constrained")
        axes = np.asarray(axes).reshape(len(self.names), 2)
        sweeps = np.arange(1, self.means.shape[1] + 1)
        for k, name in enumerate(self.names):
            axes[k, 0].plot(sweeps, self.means[:, :, k].T, linewidth=1)
            axes[k, 1].plot(sweeps, np.sqrt(self.variances[:, :, k]).T, linewidth=1)
            axes[k, 0].set_ylabel(name)
        for ax, title in zip(axes[0], ("mean", "standard deviation"), strict=True):
            ax.set_title(title)
        for ax in axes[-1]:
            ax.set_xlabel("sweep")
            ax.set_xticks(sweeps[:: max(1, len(sweeps) // 10)])
        self.axes_, self.figure_ = axes, axes[0, 0].figure
        return self
