"""Data sets from archives: the table that their files give is the papers', or it is refused."""

import gzip
import hashlib
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from numpy.testing import assert_array_equal
from pandas.testing import assert_frame_equal

from gapkernel import datasets
from gapkernel.datasets import download
from gapkernel.datasets.download import DOWNLOADS, Download, Layout, digest

TOY = Layout(("-id", "age", "colour", "class"), "class", ("colour",))
TEXT = "7,20,01,yes\n8, ?,2,no\n9,30,?,yes\n10,40,01,?\n\n"


@pytest.fixture
def archive(monkeypatch, tmp_path):
    """A stand-in for the network: files by the last part of their address."""
    monkeypatch.delenv("GAPKERNEL_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    files: dict[str, bytes] = {}

    def fetch_file(address, folder):
        name = address.rpartition("/")[2]
        if name not in files:
            raise URLError("no route to host")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(files[name])
        return str(folder / name)

    monkeypatch.setattr(sklearn.datasets, "fetch_file", fetch_file)
    return files


def test_lines_become_a_table(archive, monkeypatch):
    expected = pd.DataFrame({"age": [20.0, np.nan, 30.0], "colour": pd.Categorical(["01", "2", None])})
    y = np.array(["yes", "no", "yes"], dtype=object)
    monkeypatch.setitem(DOWNLOADS, "servo", Download(("http://there/toy.data",), TOY, digest(expected, y)))
    archive["toy.data"] = TEXT.encode()
    found = datasets.load("servo")
    assert_frame_equal(found.X, expected, check_categorical=False)
    assert_array_equal(found.y, y)


@pytest.mark.parametrize("changed", [TEXT.replace("20", "21"), TEXT.replace("no", "yes"), TEXT.replace("01", "1")])
def test_another_table_is_refused(changed, archive, monkeypatch):
    archive["toy.data"] = TEXT.encode()
    X, _ = download.fetch("toy", toy := Download(("http://there/toy.data",), TOY, digest(*read(TEXT, archive))))
    assert X.shape == (3, 2)
    archive["toy.data"] = changed.encode()
    with pytest.raises(ValueError, match=r"is not the 'toy' of the papers: it cannot be read, or the SHA-256"):
        download.fetch("toy", toy)


def read(text, archive):
    path = Path(sklearn.datasets.get_data_home()) / "toy.data"
    path.write_text(text)
    return TOY([path])


def test_without_a_connection_the_message_says_what_to_do(archive):
    with pytest.raises(
        ConnectionError, match=r"'usps' could not be fetched from https://.*zip.train.gz and .*GAPKERNEL"
    ):
        datasets.load("usps")


@pytest.mark.parametrize("content", [b"<html>", b"\x1f\x8b\x08\x00"], ids=["a page", "half a file"])
def test_a_file_that_cannot_be_read_is_no_lack_of_a_connection(content, archive):
    archive["zip.train.gz"] = archive["zip.test.gz"] = content
    with pytest.raises(ValueError, match=r"is not the 'usps' of the papers: it cannot be read"):
        datasets.load("usps")


def test_every_public_table_is_checked():
    assert all(len(source.sha256) == len(hashlib.sha256().hexdigest()) for source in DOWNLOADS.values())
    assert all(address.startswith("https://") for source in DOWNLOADS.values() for address in source.addresses)


def raw_lines(name, folder):
    """The cells of a data set as the archive writes them, "?" in gaps."""
    frame = pd.read_csv(folder / f"{name}.csv", dtype=str).fillna("?")
    target = frame.pop("target")
    layout = DOWNLOADS[name].read
    return [
        [target[i] if c == layout.target else frame[c][i] if c in frame else "0" for c in layout.names]
        for i in frame.index
    ]


@pytest.mark.parametrize("name", sorted(set(DOWNLOADS) - {"usps"}))
def test_the_files_of_the_archive_give_the_table_of_the_folder(name, archive, data_folder):
    """Files in the archive's form, made from the folder: the form of each was read in copies of the originals."""
    separator = " " if DOWNLOADS[name].read.separator is None else ","
    lines = [separator.join(cells) for cells in raw_lines(name, data_folder)]
    first, *more = (address.rpartition("/")[2] for address in DOWNLOADS[name].addresses)
    archive[first] = "\n".join(lines[:100] if more else lines).encode()
    archive.update(dict.fromkeys(more, "\n".join(lines[100:]).encode()))
    found, expected = datasets.load(name), datasets.load(name, data_folder)
    assert_frame_equal(found.X, expected.X)
    assert_array_equal(found.y, expected.y)


@pytest.mark.slow
def test_the_digits_of_the_archive_are_those_of_the_folder(archive, data_folder):
    X, y = datasets.load("usps", data_folder)
    for name, rows in (("zip.train.gz", slice(7291)), ("zip.test.gz", slice(7291, None))):
        lines = [
            f"{digit:.4f} " + " ".join(f"{value:.4f}" for value in row)
            for digit, row in zip(y[rows], X[rows], strict=True)
        ]
        archive[name] = gzip.compress("\n".join(lines).encode())
    found = datasets.load("usps")
    assert_array_equal(found.X, X)
    assert_array_equal(found.y, y)
