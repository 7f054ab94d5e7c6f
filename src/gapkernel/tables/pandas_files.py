"""Files are read into pandas frames, and pandas is optional."""


def pandas_files():
    """The module that reads files into pandas frames."""
    try:
        from gapkernel.tables import files
    except ImportError as error:
        raise ImportError('This needs pandas: pip install "gapkernel[cli]".') from error
    return files
