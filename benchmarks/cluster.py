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

N_BLOCKS, BLOCK, N_COMPONENTS = 12, 20_000, 1024


def machine(density):
    """A classifier whose density is known, so that a fit is the feature pass and little else."""
    known = gk.density.Gaussian(mean=density.mean_, covariance=density.covariance_)
    return gk.FourierClassifier(N_COMPONENTS, density=known, density_samples=1_000, gamma=0.05)


def collection():
    """Rows and labels as dask arrays, each block made by the worker that needs it."""
    parts = [dask.delayed(batch, nout=2)(number, BLOCK) for number in range(N_BLOCKS)]
    X = da.concatenate([da.from_delayed(X, (BLOCK, N_COLUMNS), float) for X, _ in parts])
    return X, da.concatenate([da.from_delayed(y, (BLOCK,), int) for _, y in parts])


def timed(task):
    """Result and wall seconds."""
    begin = time.perf_counter()
    return task(), time.perf_counter() - begin


def on_workers(n_workers, model, repeats=2):
    """The model fitted by workers of one thread each, and the best time."""
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        X, y = client.persist(collection())
        gk.FourierClassifier(16).fit(X, y)  # each worker loads the compiled loops
        times = [timed(lambda: model.fit(X, y))[1] for _ in range(repeats)]
    return model, min(times)


def with_a_death(model):
    """The model fitted by two workers, one of which is killed a second after the start."""
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        X, y = collection()
        gk.FourierClassifier(16).fit(X, y)
        victim = next(iter(client.run(os.getpid).values()))
        killer = threading.Timer(1.0, os.kill, (victim, 9))
        killer.start()
        result, wall = timed(lambda: model.fit(X, y))
        alive = victim in client.run(os.getpid).values()
    killer.join()
    assert not alive, "the worker outlived the fit: make the fit longer"
    return result, wall


def run():
    """Measure and write the table."""
    density = gk.density.Gaussian().fit(batch(0, 20_000)[0])
    pieces = [batch(number, BLOCK) for number in range(N_BLOCKS)]
    X, y = np.concatenate([p[0] for p in pieces]), np.concatenate([p[1] for p in pieces])
    with threadpool_limits(1), gk.config_context(n_threads=1):
        machine(density).fit(X[:5000], y[:5000])
        runs = [timed(lambda: machine(density).fit(X, y)) for _ in range(2)]
    alone, base = runs[0][0], min(wall for _, wall in runs)
    lines = [("one process, one thread, no dask", f"{base:.1f} s", "1", "0")]
    cases = {
        "one worker of one thread": lambda: on_workers(1, machine(density)),
        "two workers of one thread": lambda: on_workers(2, machine(density)),
        "two workers, one killed after a second": lambda: with_a_death(machine(density)),
    }
    for name, case in cases.items():
        model, wall = case()
        difference = np.abs(model.coef_ - alone.coef_).max() / np.abs(alone.coef_).max()
        lines.append((name, f"{wall:.1f} s", f"{base / wall:.2f} x", f"{difference:.0e}"))
    report(
        "cluster",
        f"Feature pass and normal equations of {N_BLOCKS * BLOCK:,} x {N_COLUMNS} rows, {N_COMPONENTS:,} features",
        ("where", "wall", "speed", "largest difference of coefficients"),
        lines,
        f"""The density is known, so a fit is one pass over the rows. The rows of the first two clusters lie on their
workers; where a worker is killed, rows are made as they are needed. Load average {os.getloadavg()[0]:.0f} on
{os.cpu_count()} cores at the end: where it is above 2 the machine was shared.""",
    )


if __name__ == "__main__":
    run()
