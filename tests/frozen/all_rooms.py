"""All rooms of frozen answers."""

from frozen import (
    combined,
    densities,
    features,
    imputation,
    inspection,
    kernels,
    larger,
    machines,
    processes,
    studies,
    systems,
)

MODULES = (
    kernels,
    densities,
    machines,
    processes,
    features,
    systems,
    combined,
    imputation,
    inspection,
    larger,
    studies,
)
ROOMS = tuple(module.ROOM for module in MODULES)
