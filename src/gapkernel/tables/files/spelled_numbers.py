"""Numbers as people write them: decimal commas, separators of thousands, percent signs."""

from __future__ import annotations

import pandas as pd

COMMA_DECIMALS = r"[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+)(?:,\d+)?"
COMMA_THOUSANDS = r"[+-]?(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?"


def plain_numbers(text: pd.Series, decimal: str | None = None) -> tuple[pd.Series, str]:
    """The numbers that texts spell as float64, NaN for other texts, and how they are written.

    Parameters
    ----------
    text : Series of str
        Without gaps.
    decimal : {".", ",", None}
        The decimal sign. None finds it from the column: "3,5" has a decimal comma, "1,234.5" a comma between thousands,
        and "1,234" alone may be either.

    Returns
    -------
    numbers : Series of float64
    written : str
        "" as a computer writes numbers, "in percent", "with decimal commas", "with commas between thousands", or
        "with commas" that may mean either, in which case the numbers are NaN.
    """
    parsed = _parsed(text)
    some_plain = not len(text) or parsed.notna().any()  # then the column is written plainly, or mixed
    if some_plain and not text.str.contains(",", regex=False).any():
        return parsed, ""
    bare, written = text, ""
    if text.str.endswith("%").all():
        bare, written = text.str.removesuffix("%").str.rstrip(), "in percent"
    if bare.str.contains(",", regex=False).any():
        how = _commas(bare, decimal)
        if how == "with decimal commas":
            bare = bare.str.replace(".", "", regex=False).str.replace(",", ".", regex=False)
        elif how == "with commas between thousands":
            bare = bare.str.replace(",", "", regex=False)
        written = f"{written} {how}".strip()
    return _parsed(bare), written


def _parsed(text: pd.Series) -> pd.Series:
    """The numbers that texts spell, NaN for other texts; to the last digit, which older versions of pandas round."""
    numbers = pd.to_numeric(text, errors="coerce").astype("float64")
    spelled = numbers.notna()
    numbers[spelled] = text[spelled].to_numpy(dtype=object).astype("float64")
    return numbers


def _commas(text: pd.Series, decimal: str | None) -> str:
    """What the commas of a column are: nothing, decimal signs, separators of thousands, or either."""
    decimals, thousands = text.str.fullmatch(COMMA_DECIMALS).all(), text.str.fullmatch(COMMA_THOUSANDS).all()
    if decimals and (decimal == "," or (decimal is None and not thousands)):
        return "with decimal commas"
    if thousands and (decimal == "." or (decimal is None and not decimals)):
        return "with commas between thousands"
    return "with commas" if decimals and thousands and decimal is None else ""
