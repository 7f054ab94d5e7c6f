"""Files as they are: CSV (any common separator and encoding, also packed by gzip), Parquet and Excel."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import pandas as pd

from gapkernel.compute.runtime.writing import written_whole
from gapkernel.tables.input_errors import InputError, Setting, unknown_column

GAP_MARKS = {"", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "<NA>", "NULL", "null", "None"}
"""Text that means a gap, as in R, pandas, SQL and the older data archives."""

SEPARATORS = ",;\t|"
PACKED = {b"PK\x03\x04": "zip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"(\xb5/\xfd": "zstandard"}
KINDS = {".parquet": "a Parquet file", ".pq": "a Parquet file"}
KINDS |= dict.fromkeys((".xlsx", ".xls", ".xlsm", ".xlsb", ".ods"), "an Excel file")
"""What a file is by the end of its name; any other is CSV. For spreadsheets pandas needs a further package each."""

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""How text begins that a spreadsheet would run."""


@dataclass(frozen=True)
class Reading:
    """How a file is to be read.

    Attributes
    ----------
    drop : sequence of str
        Columns to leave out.
    categories : sequence of str
        Columns of numbers that are codes of categories.
    gap_marks : sequence of str
        Further text or numbers that mean a gap, in every column.
    decimal : {".", ","} or None
        The decimal sign of numbers in text; None finds it from each column.
    encoding : str or None
        Of a CSV file; None is UTF-8, or what the first bytes say.
    """

    drop: Sequence[str] = ()
    categories: Sequence[str] = ()
    gap_marks: Sequence[str] = ()
    decimal: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (None, ".", ","):
            raise InputError(Setting("decimal"), f" must be . or , but is '{self.decimal}'.")


AS_IT_IS = Reading()


def read_raw(path, reading: Reading = AS_IT_IS) -> pd.DataFrame:
    """The file without the columns to drop: text, or numbers where the file has types, with None or NaN in the gaps."""
    frame = _read(Path(path), reading.encoding)
    if frame.shape[1] == 0:
        raise InputError(f"{path} is empty.")
    if len(frame) == 0:
        raise InputError(f"{path} has a header line but no rows.")
    frame = frame.reset_index(drop=True)  # rows are numbered, whatever index a Parquet file has
    frame.columns = [str(name).strip() for name in frame.columns]
    repeated = frame.columns[frame.columns.duplicated()]
    if len(repeated):
        raise InputError(f"{path} has more than one column named '{repeated[0]}'. Give each column a name of its own.")
    for name in (*reading.drop, *reading.categories):
        if name not in frame:
            raise unknown_column(name, frame.columns, path)
    frame = frame.drop(columns=list(reading.drop))
    if not frame.shape[1]:
        raise InputError("Every column was dropped, so nothing is left.")
    return with_marks_as_gaps(frame, reading)


def with_marks_as_gaps(frame: pd.DataFrame, reading: Reading) -> pd.DataFrame:
    """Numbers, or text without blanks around it, with None in the gaps: `GAP_MARKS` and those of the reading."""
    marks = GAP_MARKS.union(reading.gap_marks)
    return pd.DataFrame({name: _with_gaps(values, marks) for name, values in frame.items()})


def _with_gaps(values: pd.Series, marks: set[str]) -> pd.Series:
    if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
        return values.mask(values.isin(pd.to_numeric(pd.Series(sorted(marks)), errors="coerce").dropna()))
    text = values.astype(object).where(values.notna(), None)
    return text.map(lambda value: _without_marks(str(value).strip(), marks), na_action="ignore").astype(object)


def _without_marks(text: str, marks: set[str]) -> str | None:
    whole = text.rstrip("0").removesuffix(".") if "." in text else text  # -999.0 is -999
    return None if text in marks or whole in marks else text


def frame_of(columns: dict) -> pd.DataFrame:
    """A frame of columns by name."""
    return pd.DataFrame(columns)


def write_csv(frame: pd.DataFrame, path) -> None:
    """Write a frame as CSV, whole or not at all.

    Text that a spreadsheet would run as a formula gets an apostrophe before it, which a spreadsheet does not show.
    """
    safe = frame.map(_inert).rename(columns=_inert)
    with written_whole(path) as beside:
        safe.to_csv(beside, index=False)


def _inert(value):
    """A cell as it is, or text with an apostrophe before it if it could be a formula; text of a number could not."""
    if not isinstance(value, str) or not value.startswith(FORMULA_STARTS):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


def _read(path: Path, encoding: str | None) -> pd.DataFrame:
    """The table in a file: the cells of a CSV file as text, those of other files with their own types."""
    if path.is_dir():
        raise InputError(f"{path} is a folder. Name a CSV, Parquet or Excel file.")
    if not path.is_file():
        raise InputError(f"There is no file {path}.")
    kind = KINDS.get(path.suffix.lower(), "a table")
    try:
        if kind == "an Excel file":
            return _excel(path)
        return pd.read_parquet(path) if kind == "a Parquet file" else _csv(path, encoding)
    except InputError:
        raise
    except ImportError as error:  # pandas names the package
        raise InputError(f"{path} cannot be read: {error} Or save it as CSV.") from error
    except Exception as error:  # openpyxl lets the errors of zip, XML and its own out
        raise InputError(f"{path} is not {kind}: {' '.join(str(error).split())}") from error


def _excel(path: Path) -> pd.DataFrame:
    """The only sheet with cells; a workbook with tables on several sheets is refused: the wrong one might be read."""
    sheets = pd.read_excel(path, sheet_name=None, keep_default_na=False, na_values=[""])
    filled = {name: sheet for name, sheet in sheets.items() if sheet.shape[1]}
    if len(filled) > 1:
        raise InputError(f"{path} has tables on the sheets {', '.join(filled)}. Save the one you mean as CSV.")
    return next(iter(filled.values()), pd.DataFrame())


def _csv(path: Path, encoding: str | None) -> pd.DataFrame:
    text = _decoded(path, encoding)
    header = next((line for line in text.splitlines() if line.strip()), "")
    if not header:
        raise InputError(f"{path} is empty.")
    table = BytesIO(text.encode())  # pandas reads bytes faster than text
    frame = pd.read_csv(table, sep=max(SEPARATORS, key=header.count), dtype=str, keep_default_na=False)
    if not isinstance(frame.index, pd.RangeIndex):  # pandas took the first column for an index
        raise InputError(
            f"{path} has lines with more cells than its header names. Is there a separator at the end of each line?"
        )
    return frame


def _decoded(path: Path, encoding: str | None) -> str:
    """The text of a file, unpacked."""
    content = path.read_bytes()
    for start, kind in PACKED.items():
        if content.startswith(start):
            raise InputError(f"{path} is a {kind} file. Unpack it first (CSV files may be packed by gzip).")
    if content.startswith(b"\x1f\x8b"):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError) as error:
            raise InputError(f"{path} is a damaged gzip file: {error}") from error
    marked = "UTF-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "UTF-8"
    if encoding is None and marked == "UTF-8" and b"\0" in content[:200]:
        utf16 = Setting("encoding", "utf-16-le")
        raise InputError(f"{path} is not UTF-8 text: it holds zero bytes. If it is UTF-16: ", utf16)
    try:
        return content.decode(encoding or marked.replace("UTF-8", "UTF-8-SIG"))
    except LookupError as error:
        raise InputError(f"There is no encoding '{encoding}'. Common ones: utf-8, utf-16, latin-1, cp1252.") from error
    except UnicodeError as error:
        bad = f" (byte 0x{content[error.start]:02x} at position {error.start})" if hasattr(error, "start") else ""
        other = Setting("encoding", "latin-1" if encoding is None else "utf-8")
        named = encoding or marked
        raise InputError(f"{path} is not {named} text{bad}. Name its encoding, for example: ", other) from error
