"""All rooms of frozen answers."""

from frozen import densities, features, kernels, machines, processes, systems

ROOMS = tuple(module.ROOM for module in (kernels, densities, machines, processes, features, systems))
