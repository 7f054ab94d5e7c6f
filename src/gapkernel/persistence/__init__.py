"""Fitted models in files that are safe to open, whoever wrote them."""

from gapkernel.persistence.archive import DamagedFileError
from gapkernel.persistence.models import UntrustedFileError, load, save

__all__ = ["DamagedFileError", "UntrustedFileError", "load", "save"]
