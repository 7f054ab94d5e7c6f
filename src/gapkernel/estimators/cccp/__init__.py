"""Classification with missing inputs and missing labels inside the model."""

from gapkernel.estimators.cccp.classifier import CCCPClassifier

__all__ = ["CCCPClassifier"]
