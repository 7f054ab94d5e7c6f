"""The feature pass on dask workers: one process against two workers, and a worker killed in the middle."""

import os
import threading
import time

import dask
import dask.array as da
import numpy as np
from curved import N_COLUMNS, batch
from distributed import Client, LocalCluster
from measure import report
from threadpoolctl import threadpool_limits

import gapkernel as gk

N_BLOCKS, BLOCK, N_COMPONENTS, ROUNDS = 24, 10_000, 1024, 2


def classifier(density):
    """A classifier whose density is known, so that a fit is the feature pass and little else."""
    known = gk.density.Gaussian(mean=density.mean_, covariance=density.covariance_)
    return gk.FourierClassifier(N_COMPONENTS, density=known, density_samples=1_000, gamma=0.05, random_state=0)


def collection():
    """Rows and labels as dask arrays, each block made by the worker that needs it."""
    parts = [dask.delayed(batch, nout=2)(number, BLOCK) for number in range(N_BLOCKS)]
    X = da.concatenate([da.from_delayed(X, (BLOCK, N_COLUMNS), float) for X, _ in parts])
    return X, da.concatenate([da.from_delayed(y, (BLOCK,), int) for _, y in parts])


def measured(task, processors):
    """Result, wall seconds, and processor seconds of the busiest process."""
    used, begin = processors(), time.perf_counter()
    result = task()
    wall = time.perf_counter() - begin
    return result, wall, max(after - before for before, after in zip(used, processors(), strict=True))


def alone(density, X, y):
    """One process, one thread."""
    with threadpool_limits(1), gk.config_context(n_threads=1):
        return measured(lambda: classifier(density).fit(X, y), lambda: [time.process_time()])


def on_workers(client, density, X, y):
    """Workers of one thread each."""
    return measured(lambda: classifier(density).fit(X, y), lambda: list(client.run(time.process_time).values()))


def with_a_death(client, density):
    """Two workers, one of which is killed a second after the start; rows are made as they are needed."""
    X, y = collection()
    victim = next(iter(client.run(os.getpid).values()))
    killer = threading.Timer(1.0, os.kill, (victim, 9))
    killer.start()
    model = classifier(density).fit(X, y)
    killer.join()
    assert victim not in client.run(os.getpid).values(), "the worker outlived the fit: make the fit longer"
    return model


def run():
    """Measure and write the table."""
    density = gk.density.Gaussian().fit(batch(0, 20_000)[0])
    pieces = [batch(number, BLOCK) for number in range(N_BLOCKS)]
    X, y = np.concatenate([p[0] for p in pieces]), np.concatenate([p[1] for p in pieces])
    rounds = []
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        collections = client.persist(collection())
        alone(density, X[:5000], y[:5000])
        on_workers(client, density, *collections)  # each worker loads the compiled loops
        for _ in range(ROUNDS):  # side by side, so that other work on the computer meets both
            rounds.append((alone(density, X, y), on_workers(client, density, *collections)))
        survivor = with_a_death(client, density)
    base = rounds[0][0][0]
    walls, processors = (np.array([[run[k] for run in pair] for pair in rounds]).min(axis=0) for k in (1, 2))

    def difference(model):
        return f"{np.abs(model.coef_ - base.coef_).max() / np.abs(base.coef_).max():.0e}"

    lines = [
        ("one process, one thread, no dask", f"{walls[0]:.1f} s", "1", f"{processors[0]:.1f} s", "1", "0"),
        (
            "two workers of one thread",
            f"{walls[1]:.1f} s",
            f"{walls[0] / walls[1]:.2f} x",
            f"{processors[1]:.1f} s",
            f"{processors[0] / processors[1]:.2f} x",
            difference(rounds[0][1][0]),
        ),
        ("two workers, one killed in the middle", "", "", "", "", difference(survivor)),
    ]
    report(
        "cluster",
        f"Feature pass and normal equations of {N_BLOCKS * BLOCK:,} x {N_COLUMNS} rows, {N_COMPONENTS:,} features",
        ("where", "wall", "speed", "processor of the busiest process", "speed", "largest difference of coefficients"),
        lines,
        f"""The density is known, so a fit is one pass over the rows, which lie on the workers. Best of {ROUNDS} rounds,
one process and two workers in turn. The speed by processor time is what two free cores would give, without the
scheduler and the calling process. Load average
{os.getloadavg()[0]:.0f} on {os.cpu_count()} cores at the end: where it is above 2 the computer was shared.""",
    )


if __name__ == "__main__":
    run()
