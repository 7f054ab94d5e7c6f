"""Files as people have them: how numbers are written, encodings, packed files, spreadsheets; what is pointed out."""

import gzip
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from gapkernel.tables.files import Reading, findings, known_columns, read_frame, typed_frame
from gapkernel.tables.input_errors import InputError

RANDOM = np.random.default_rng(0)
TABLE = pd.DataFrame({"size": [1.25, np.nan, -3.5, 4.0], "name": ["Zoë", "b", None, "Zoë"]})


def spelled(numbers, decimal, thousands, percent=""):
    table = str.maketrans({".": decimal, ",": thousands})
    return pd.Series([f"{number:,.2f}".translate(table) + percent for number in numbers])


@given(st.lists(st.integers(-(10**9), 10**9), min_size=1), st.sampled_from([".,", ",.", ". ", ", "]), st.booleans())
def test_numbers_are_read_as_they_were_written(hundredths, signs, percent):
    numbers = [number / 100 for number in hundredths]
    text = spelled(numbers, signs[0], signs[1].strip(), "%" if percent else "")
    for decimal in (None, signs[0]):  # two digits behind the sign: not a separator of thousands
        frame, _, unusable = typed_frame(pd.DataFrame({"a": text}), Reading(decimal=decimal))
        assert not unusable
        np.testing.assert_allclose(frame["a"], numbers, rtol=1e-15)


def test_commas_that_may_mean_two_things_are_never_guessed(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1,234;1\n5,678;2\n")
    with pytest.raises(InputError, match=r"Column 'a' holds numbers with commas such as '1,234'.*decimal=','"):
        read_frame(path)
    assert read_frame(path, Reading(decimal=","))[0]["a"].tolist() == [1.234, 5.678]
    assert read_frame(path, Reading(decimal="."))[0]["a"].tolist() == [1234, 5678]
    with pytest.raises(InputError, match=r"^decimal must be"):
        Reading(decimal=";")


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1033,977", "2,500"], [1033.977, 2.5]),  # four digits before the comma: not a separator of thousands
        (["1,033,977", "2,500"], [1033977, 2500]),  # two commas: not decimal ones
        (["1,5", "2,500"], [1.5, 2.5]),
        (["1,033.5", "2,500"], [1033.5, 2500]),
    ],
)
def test_one_cell_that_can_be_read_in_one_way_only_decides_for_its_column(cells, numbers):
    frame, (note,), unusable = typed_frame(pd.DataFrame({"a": cells}))
    assert frame["a"].tolist() == numbers
    assert "commas" in str(note)
    assert unusable == []


def test_commas_that_may_mean_two_things_are_refused_in_new_rows_and_targets_too(tmp_path):
    told = "'1,234', which may mean two things. Say which: decimal=','"
    with pytest.raises(InputError, match=told):
        known_columns(pd.DataFrame({"a": ["1,234"]}), ["a"], {}, Reading())
    frame, _ = known_columns(pd.DataFrame({"a": ["1,234"]}), ["a"], {}, Reading(decimal=","))
    assert frame["a"].tolist() == [1.234]
    (tmp_path / "t.csv").write_text("a;y\n1;1,234\n2;5,678\n")
    with pytest.raises(InputError, match=told):
        read_frame(tmp_path / "t.csv", target="y")


def test_numbers_that_had_to_be_deciphered_are_told(tmp_path):
    (tmp_path / "t.csv").write_text("share;size;mixed\n37.8%;3,5;4%\n12 %;4;5\n")
    frame, notes = read_frame(tmp_path / "t.csv")
    assert frame["share"].tolist() == [37.8, 12]
    assert frame["size"].tolist() == [3.5, 4]
    assert frame["mixed"].cat.categories.tolist() == ["4%", "5"]  # in percent and not: no one number
    example = "'share' is written in percent: '37.8%' is read as 37.8."
    assert str(notes[0]) == f"{example} If it is text: categories=['share']"
    assert "'size' is written with decimal commas: '3,5' is read as 3.5." in str(notes[1])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("packed", [False, True])
def test_text_files_are_read_in_the_encoding_that_their_first_bytes_tell(encoding, packed, tmp_path):
    content = TABLE.to_csv(index=False).encode(encoding)
    (tmp_path / "t.csv").write_bytes(gzip.compress(content) if packed else content)
    frame, _ = read_frame(tmp_path / "t.csv")
    np.testing.assert_array_equal(frame["size"], TABLE["size"])
    assert frame["name"].cat.categories.tolist() == ["Zoë", "b"]


def test_an_excel_file_reads_as_its_csv_twin(tmp_path):
    pytest.importorskip("openpyxl")
    TABLE.to_csv(tmp_path / "t.csv", index=False)
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        pd.DataFrame().to_excel(book, sheet_name="empty")
        TABLE.to_excel(book, sheet_name="table", index=False)
    pd.testing.assert_frame_equal(read_frame(tmp_path / "t.xlsx")[0], read_frame(tmp_path / "t.csv")[0])
    with pd.ExcelWriter(tmp_path / "two.xlsx") as book:
        TABLE.to_excel(book, sheet_name="first")
        TABLE.to_excel(book, sheet_name="second")
    with pytest.raises(InputError, match="tables on the sheets first, second"):
        read_frame(tmp_path / "two.xlsx")


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("t.csv", TABLE.to_csv(index=False).encode("latin-1"), "encoding='latin-1'"),
        ("t.csv", TABLE.to_csv(index=False).encode("utf-16-le"), "encoding='utf-16-le'"),
        ("t.csv", gzip.compress(b"a,b\n1,2\n", mtime=0)[:-6], "damaged gzip file"),
        ("t.csv", b"PK\x03\x04", "is a zip file. Unpack it first"),
        (
            "t.xls",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512),
            "cannot be read: .*(xlrd|calamine).* Or save it as CSV",
        ),
        ("t.xlsx", b"a,b", "is not an Excel file"),
    ],
)
def test_a_file_that_is_not_read_says_what_to_do(name, content, told, tmp_path, monkeypatch):
    for package in ("xlrd", "python_calamine"):  # by which pandas reads .xls
        monkeypatch.setitem(sys.modules, package, None)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=told):
        read_frame(tmp_path / name)
    if told.startswith("encoding="):
        reading = Reading(encoding=told.split("'")[1])
        assert read_frame(tmp_path / name, reading)[0]["name"].cat.categories.tolist() == ["Zoë", "b"]


def test_an_unknown_encoding_is_named(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(InputError, match="no encoding 'utf-9'"):
        read_frame(tmp_path / "t.csv", Reading(encoding="utf-9"))


@pytest.mark.parametrize("mark", [-999, 9999, 99.0, -9])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_number_that_marks_gaps_is_found_and_mended(mark, suffix, tmp_path):
    frame = pd.DataFrame({"age": RANDOM.uniform(0, 4, 80), "dose": RANDOM.integers(0, 2, 80)})
    frame.loc[::9, ["age", "dose"]] = mark
    getattr(frame, f"to_{suffix}")(tmp_path / f"t.{suffix}", index=False)
    (told,) = findings(read_frame(tmp_path / f"t.{suffix}")[0])
    away, setting = told.args
    assert away == f"{mark:g} is far from all other values of 'age', 'dose'. If it marks a gap: "
    mended, _ = read_frame(tmp_path / f"t.{suffix}", Reading(**{setting.name: setting.value}))
    assert mended["age"].isna().sum() == mended["dose"].isna().sum() == 9
    assert findings(mended) == []


def test_what_is_pointed_out_is_mended_by_the_setting_it_names(tmp_path):
    n = 120
    frame = pd.DataFrame(
        {
            "patient id": RANDOM.choice(10**6, n, replace=False),
            "row": RANDOM.permutation(n),
            "site": "one",
            "grade": RANDOM.integers(1, 5, n),
            "flag": RANDOM.integers(0, 2, n),
            "count": RANDOM.integers(20, 90, n),
            "size": RANDOM.normal(size=n),
        }
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    told = findings(read_frame(tmp_path / "t.csv")[0])
    settings = [message.args[-1] for message in told]
    assert settings == [("drop", ["site"]), ("drop", ["patient id"]), ("drop", ["row"]), ("categories", ["grade"])]
    mended, _ = read_frame(tmp_path / "t.csv", Reading(["site", "patient id", "row"], ["grade"]))
    assert findings(mended) == []
    assert "Only 12 rows" in str(findings(mended[:12])[0])
