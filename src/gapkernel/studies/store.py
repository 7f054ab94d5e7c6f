"""Doing the tasks of a study that are not done, and keeping their results in one SQLite file, task by task."""

from __future__ import annotations

import json
import platform
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import astuple, fields
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import RLock
from typing import Any

from joblib import Parallel, delayed, parallel_config

from gapkernel.compute.runtime.progress import tracked
from gapkernel.compute.runtime.writing import disk_full, written_whole
from gapkernel.studies.study import Study, Task

COLUMNS = tuple(f.name for f in fields(Task))
PACKAGES = ("gapkernel", "numpy", "scipy", "scikit-learn", "numba", "joblib", "pandas", "clarabel", "skops")
BUSY_SECONDS = 120
NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
SCHEMA = """
CREATE TABLE IF NOT EXISTS studies (name TEXT PRIMARY KEY, settings TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS runs (
    id INTEGER PRIMARY KEY, study TEXT NOT NULL REFERENCES studies, started TEXT NOT NULL, versions TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS results (
    study TEXT NOT NULL REFERENCES studies, key TEXT NOT NULL, run INTEGER NOT NULL REFERENCES runs,
    dataset TEXT NOT NULL, method TEXT NOT NULL, mechanism TEXT NOT NULL, fraction REAL NOT NULL,
    draw INTEGER NOT NULL, repeat INTEGER NOT NULL, fold INTEGER NOT NULL,
    data_seed INTEGER NOT NULL, split_seed INTEGER NOT NULL, result TEXT NOT NULL,
    PRIMARY KEY (study, key)
);
"""


class Store(AbstractContextManager):
    """Finished tasks of one or more studies, in a file that survives being killed.

    Every finished task is one transaction; a task that is there already is left as it is. So a run that was stopped at
    any moment can be started again and ends with the same table, and two runs on one file do no harm to each other.

    Parameters
    ----------
    path : path
        The file; its folder is made if need be. It must be on a local disk. A new one begins with the results that
        `export_csv` has written beside it: to results.sqlite those in results_NAME.csv belong.

    Examples
    --------
    >>> from gapkernel.studies import Store, Study, Task
    >>> from tempfile import TemporaryDirectory
    >>> study = Study("demo", (Task("heart", "genrbf"),), run_task=lambda task: {"accuracy": 0.8})
    >>> with TemporaryDirectory() as folder, Store(f"{folder}/results.sqlite") as store:
    ...     run = store.begin(study)
    ...     store.put(run, study.tasks[0], {"accuracy": 0.8})
    ...     store.frame("demo")["accuracy"].tolist()
    True
    [0.8]
    """

    def __init__(self, path) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = RLock()
        is_new = not self.path.exists()
        try:
            self._connection = sqlite3.connect(
                self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )  # joblib asks for tasks from threads of its own; the lock keeps them apart
            with self._room():
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA foreign_keys = ON")
            with self._transaction():
                for statement in SCHEMA.strip().split(";\n"):
                    self._connection.execute(statement)
        except sqlite3.DatabaseError as error:
            raise ValueError(f"{self.path} is not a store of results: {error}. Choose another file.") from error
        for kept in sorted(self.path.parent.glob(f"{self.path.stem}_*.csv")) if is_new else ():
            if kept.with_suffix(".json").exists():
                self.import_csv(kept)

    def begin(self, study: Study) -> int:
        """Note that a run of this study begins; its number."""
        settings = json.dumps(study.settings, sort_keys=True, default=str)
        with self._transaction():
            self._connection.execute("INSERT OR IGNORE INTO studies VALUES (?, ?)", (study.name, settings))
            known = self._one("SELECT settings FROM studies WHERE name = ?", study.name)
            if known != settings:
                raise ValueError(
                    f"{self.path} holds results of {study.name!r} with other settings. Choose another file, or remove "
                    f"it.\n  there: {known}\n  now:   {settings}"
                )
            started = datetime.now(UTC).isoformat(timespec="seconds")
            cursor = self._connection.execute(
                "INSERT INTO runs (study, started, versions) VALUES (?, ?, ?)",
                (study.name, started, json.dumps(versions())),
            )
        return int(cursor.lastrowid or 0)

    def studies(self) -> tuple[str, ...]:
        """Names of the studies in the file."""
        return tuple(name for (name,) in self._connection.execute("SELECT name FROM studies ORDER BY name"))

    def finished(self, study: str) -> set[str]:
        """Keys of the tasks of a study that are done."""
        return {key for (key,) in self._connection.execute("SELECT key FROM results WHERE study = ?", (study,))}

    def has(self, study: str, task: Task) -> bool:
        """Whether a task is done."""
        return self._one("SELECT COUNT(*) FROM results WHERE study = ? AND key = ?", study, task.key) > 0

    def import_csv(self, path) -> None:
        """Take over the tasks that `export_csv` has written to a file."""
        import pandas

        lines = pandas.read_csv(path).astype(object)
        about = json.loads(Path(path).with_suffix(".json").read_text(encoding="utf-8"))
        runs = {}
        with self._transaction():
            settings = json.dumps(about["settings"], sort_keys=True)
            self._connection.execute("INSERT INTO studies VALUES (?, ?)", (about["study"], settings))
            for run in about["runs"]:
                cursor = self._connection.execute(
                    "INSERT INTO runs (study, started, versions) VALUES (?, ?, ?)",
                    (about["study"], run["started"], json.dumps(run["versions"])),
                )
                runs[run["run"]] = int(cursor.lastrowid or 0)
        for line in lines.where(lines.notna(), None).to_dict("records"):
            task, run = Task(**{name: line.pop(name) for name in COLUMNS}), runs[line.pop("run")]
            self.put(run, task, {name: _unflat(value) for name, value in line.items()})

    def put(self, run: int, task: Task, result: Mapping[str, Any]) -> bool:
        """Keep the result of a task, in one transaction; False if there was one already, which then stays."""
        study = self._one("SELECT study FROM runs WHERE id = ?", run)
        row = (study, task.key, run, *astuple(task), task.data_seed, task.split_seed, json.dumps(result, default=float))
        with self._transaction():
            cursor = self._connection.execute(
                f"INSERT OR IGNORE INTO results (study, key, run, {', '.join(COLUMNS)}, data_seed, split_seed, result) "
                f"VALUES ({', '.join('?' * len(row))})",
                row,
            )
        return cursor.rowcount > 0

    def results(self, study: str) -> Iterator[dict[str, Any]]:
        """The finished tasks of a study with their results, in the order of their keys."""
        names = (*COLUMNS, "run", "data_seed", "split_seed")
        wanted, order = ", ".join((*names, "result")), ", ".join(COLUMNS)
        cursor = self._connection.execute(f"SELECT {wanted} FROM results WHERE study = ? ORDER BY {order}", (study,))
        for *values, result in cursor:
            yield dict(zip(names, values, strict=True)) | json.loads(result)

    def frame(self, study: str, tasks: Iterable[Task] | None = None):
        """A pandas frame with one line for each finished task (of those given), always in the same order."""
        import pandas

        wanted = None if tasks is None else {task.key for task in tasks}
        lines = [
            line
            for line in self.results(study)
            if wanted is None or Task(**{name: line[name] for name in COLUMNS}).key in wanted
        ]
        return pandas.DataFrame(lines, columns=None if lines else list(COLUMNS))

    def metadata(self, study: str) -> dict[str, Any]:
        """Settings of a study, and when, and with which versions, it was run."""
        settings = self._one("SELECT settings FROM studies WHERE name = ?", study)
        runs = self._connection.execute("SELECT id, started, versions FROM runs WHERE study = ?", (study,))
        return {
            "study": study,
            "settings": None if settings is None else json.loads(settings),
            "runs": [{"run": run, "started": started, "versions": json.loads(v)} for run, started, v in runs],
        }

    def export_csv(self, study: str, path) -> None:
        """Write the results as CSV, and what is known about them beside it as JSON."""
        with written_whole(path) as file:
            self._flat(study).to_csv(file, index=False, lineterminator="\n")
        with written_whole(Path(path).with_suffix(".json")) as file:
            file.write_text(json.dumps(self.metadata(study), indent=2) + "\n", encoding="utf-8")

    def export_parquet(self, study: str, path) -> None:
        """Write the results as parquet, what is known about them in the file's own metadata."""
        import pyarrow
        from pyarrow import parquet

        table = pyarrow.Table.from_pandas(self._flat(study), preserve_index=False)
        note = {b"gapkernel": json.dumps(self.metadata(study)).encode()}
        with written_whole(path) as file:
            parquet.write_table(table.replace_schema_metadata({**(table.schema.metadata or {}), **note}), file)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __exit__(self, *exception) -> None:
        self.close()

    def _flat(self, study: str):
        """The frame with dictionaries written as JSON, for files; a task tells its seeds."""
        frame = self.frame(study).drop(columns=["data_seed", "split_seed"])
        nested = [c for c in frame if frame[c].map(lambda value: isinstance(value, dict | list)).any()]
        return frame.assign(**{c: frame[c].map(json.dumps) for c in nested})

    def _one(self, query: str, *values):
        with self._lock:
            row = self._connection.execute(query, values).fetchone()
        return None if row is None else row[0]

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._lock, self._room():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # SQLite rolls back by itself when the disk is full
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _room(self) -> Iterator[None]:
        """Say so if the disk is full."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF in NO_ROOM:
                raise disk_full(self.path) from error
            raise


def run(study: Study, store: Store, *, n_jobs=None, client=None, progress=False, label=None):
    """Do every task of a study that the store does not hold yet.

    Parameters
    ----------
    study : Study
        What to run.
    store : Store
        Where results go, and where finished tasks are found.
    n_jobs : int, default=None
        Tasks at the same time, in processes of this computer (joblib's loky). None is 1 unless in a
        `joblib.parallel_config`, -1 is all processors.
    client : dask.distributed.Client, default=None
        Send the tasks to its cluster instead (joblib's dask backend); the store stays here.
    progress : bool, default=False
        Show a bar with the time left, as ``gapkernel.set_config(progress=True)`` does too.
    label : str, default=None
        What the bar is called; None is the name of the study.

    Returns
    -------
    frame : DataFrame
        One line for each task of the study.

    Raises
    ------
    RuntimeError
        If a task fails. It names the task; what was finished before is kept.

    Examples
    --------
    >>> import tempfile
    >>> from gapkernel.studies import Store, Study, run, tasks_of
    >>> tasks = tuple(tasks_of(dataset=["pima"], method=["ehk", "mean"]))
    >>> study = Study("lengths", tasks, lambda task: {"length": len(task.method)})
    >>> with tempfile.TemporaryDirectory() as folder, Store(f"{folder}/results.sqlite") as store:
    ...     run(study, store)["length"].tolist()
    [3, 4]
    """
    number = store.begin(study)
    done = store.finished(study.name)
    left = [task for task in study.tasks if task.key not in done]
    results = _results(study, store, left, n_jobs, client)
    for task, result in tracked(results, len(left), label or study.name, verbose=progress):
        store.put(number, task, result)
    return store.frame(study.name, study.tasks)


def _results(study: Study, store: Store, tasks: list[Task], n_jobs, client) -> Iterator[tuple[Task, Any]]:
    """Tasks with their results as they come, without those that another run has finished meanwhile."""
    backend = nullcontext() if client is None else parallel_config(backend="dask", client=client)
    with backend:
        pool = Parallel(n_jobs=n_jobs if client is None else -1, return_as="generator_unordered", batch_size=1)
        pending = (task for task in tasks if not store.has(study.name, task))
        yield from pool(delayed(_attempt)(study.run_task, task) for task in pending)


def _attempt(run_task, task: Task) -> tuple[Task, Mapping[str, Any]]:
    try:
        return task, dict(run_task(task))
    except Exception as error:
        raise RuntimeError(f"The task {task.key} failed: {type(error).__name__}: {error}") from error


def duration(seconds: float) -> str:
    """Seconds as people say them.

    Parameters
    ----------
    seconds : float
        How long something took, or will take.

    Returns
    -------
    words : str

    Examples
    --------
    >>> from gapkernel.studies import duration
    >>> duration(600.0)
    '10 minutes'
    """
    return f"{seconds:.0f} s" if seconds < 180 else f"{seconds / 60:.0f} minutes"


def _unflat(value):
    """A value of a file, a dictionary or a list from its JSON."""
    return json.loads(value) if isinstance(value, str) and value[:1] in ("{", "[") else value


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that results depend on."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
