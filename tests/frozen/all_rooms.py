"""All rooms of frozen answers."""

from frozen import densities, kernels, machines

ROOMS = tuple(module.ROOM for module in (kernels, densities, machines))
