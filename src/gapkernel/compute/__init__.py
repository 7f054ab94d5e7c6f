"""The engines: compiled loops, linear algebra, random numbers, threads. For those who build on the library."""

from gapkernel.compute.compiled import compiled
from gapkernel.compute.doors import check_counts, check_finite
from gapkernel.compute.draws import row_keys
from gapkernel.compute.linalg.basis import Basis, pivoted_cholesky
from gapkernel.compute.linalg.covariance_blocks import places_of, root_of, starts_of
from gapkernel.compute.moments.kernel_moments import base_and_pull, covariances, curvatures
from gapkernel.compute.pairs.side import lay_out
from gapkernel.compute.runtime.config import check_fits, config_context, get_config, set_config
from gapkernel.compute.runtime.progress import tracked, watched
from gapkernel.compute.runtime.threads import one_openmp_thread
from gapkernel.compute.runtime.writing import written_whole

__all__ = [
    "Basis",
    "base_and_pull",
    "check_counts",
    "check_finite",
    "check_fits",
    "compiled",
    "config_context",
    "covariances",
    "curvatures",
    "get_config",
    "lay_out",
    "one_openmp_thread",
    "pivoted_cholesky",
    "places_of",
    "root_of",
    "row_keys",
    "set_config",
    "starts_of",
    "tracked",
    "watched",
    "written_whole",
]
