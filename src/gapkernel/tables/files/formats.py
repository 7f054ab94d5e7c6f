"""Files as they are: CSV (any common separator and encoding, also packed by gzip), Parquet and Excel."""

from __future__ import annotations

import gzip
from io import BytesIO
from pathlib import Path

import pandas as pd

from gapkernel.tables.input_errors import InputError, Setting

SEPARATORS = ",;\t|"
BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
PACKED = {b"PK\x03\x04": "zip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"(\xb5/\xfd": "zstandard"}
OTHER_SPREADSHEETS = (".xls", ".xlsb", ".xlsm", ".ods", ".numbers")


def read_file(path: Path, encoding: str | None = None) -> pd.DataFrame:
    """The table in a file: the cells of a CSV file as text, those of other files with their own types."""
    if path.is_dir():
        raise InputError(f"{path} is a folder. Name a CSV, Parquet or Excel file.")
    if not path.is_file():
        raise InputError(f"There is no file {path}.")
    suffix = path.suffix.lower()
    if suffix in OTHER_SPREADSHEETS:
        raise InputError(f"{path} is a spreadsheet of a kind that is not read. Save it as .xlsx or as CSV.")
    if suffix == ".xlsx":
        return _excel(path)
    if suffix in (".parquet", ".pq"):
        return _parquet(path)
    return _csv(_unpacked(path), path, encoding)


def _unpacked(path: Path) -> bytes:
    content = path.read_bytes()
    if content.startswith(b"\x1f\x8b"):
        try:
            return gzip.decompress(content)
        except (OSError, EOFError) as error:
            raise InputError(f"{path} is a damaged gzip file: {error}") from error
    for start, kind in PACKED.items():
        if content.startswith(start):
            raise InputError(f"{path} is a {kind} file. Unpack it first (CSV files may be packed by gzip).")
    return content


def _csv(content: bytes, path: Path, encoding: str | None) -> pd.DataFrame:
    marked = next((name for mark, name in BYTE_ORDER_MARKS.items() if content.startswith(mark)), None)
    if marked is None and encoding is None and b"\0" in content[:200]:
        utf16 = Setting("encoding", "utf-16-le")
        raise InputError(f"{path} is not UTF-8 text: it holds zero bytes. If it is UTF-16: ", utf16)
    try:
        text = content.decode(encoding or marked or "utf-8")
    except LookupError as error:
        raise InputError(f"There is no encoding '{encoding}'. Common ones: utf-8, utf-16, latin-1, cp1252.") from error
    except UnicodeError as error:
        bad = f" (byte 0x{content[error.start]:02x} at position {error.start})" if hasattr(error, "start") else ""
        other = Setting("encoding", "latin-1" if encoding is None else "utf-8")
        named = encoding or marked or "UTF-8"
        raise InputError(f"{path} is not {named} text{bad}. Name its encoding, for example: ", other) from error
    header = next((line for line in text.splitlines() if line.strip()), "")
    if not header:
        raise InputError(f"{path} is empty.")
    separator = max(SEPARATORS, key=header.count)
    table = BytesIO(text.encode())  # pandas reads bytes faster than text
    try:
        frame = pd.read_csv(table, sep=separator, dtype=str, keep_default_na=False, na_values=[])
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError) as error:
        raise InputError(f"{path} is not a table: {' '.join(str(error).split())}") from error
    if not isinstance(frame.index, pd.RangeIndex):  # pandas took the first column for an index
        raise InputError(
            f"{path} has lines with more cells than its header names. Is there a separator at the end of each line?"
        )
    return frame


def _parquet(path: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(path)
    except (ValueError, OSError) as error:  # pyarrow's errors derive from these
        raise InputError(f"{path} is not a Parquet file: {' '.join(str(error).split())}") from error


def _excel(path: Path) -> pd.DataFrame:
    """The first sheet; a workbook with tables on several sheets is refused: the wrong one might be read."""
    try:
        import openpyxl
    except ImportError as error:
        raise InputError(
            'Excel files need openpyxl: pip install "gapkernel[excel]", or save the file as CSV.'
        ) from error
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        filled = [
            sheet.title for sheet in book.worksheets if any(any(row) for row in sheet.iter_rows(values_only=True))
        ]
        book.close()
        if len(filled) > 1:
            raise InputError(f"{path} has tables on the sheets {', '.join(filled)}. Save the one you mean as CSV.")
        return pd.read_excel(path, sheet_name=filled[0] if filled else 0, keep_default_na=False, na_values=[""])
    except InputError:
        raise
    except Exception as error:  # openpyxl lets the errors of zip, XML and its own out
        raise InputError(f"{path} is not an Excel file: {' '.join(str(error).split())}") from error
