"""``gapkernel describe``: where a table has gaps."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gapkernel.cli.output import LOOK, as_text, counted, note, say
from gapkernel.missingness import summary
from gapkernel.tables.files import AS_IT_IS, Reading, findings, read_raw, typed_frame
from gapkernel.tables.input_errors import to_leave_out

MOST_PATTERNS = 12
WIDEST_PATTERN = 40
LONGEST_NAME = 24
LONGEST_LIST = 24


def describe(data, reading: Reading = AS_IT_IS) -> None:
    """Show the gaps of a file; also of columns that nothing can be learned from."""
    console = Console()
    frame, notes, unusable = typed_frame(read_raw(data, reading), reading)
    show_gaps(frame, str(data), console)
    for text in (*notes, *findings(frame)):
        note(console, text)
    for error in unusable:
        note(console, to_leave_out([error]), "To learn from it:")


def show_gaps(frame, name: str, console: Console) -> None:
    """Show the gaps of a frame: in all, by column, by pattern."""
    gaps = summary(frame)
    say(
        console,
        (name, "bold"),
        f": {counted(gaps.n_rows, 'row')}, {counted(gaps.n_columns, 'column')}. "
        f"{counted(gaps.n_gaps, 'cell')} missing ({gaps.gap_fraction:.1%}); "
        f"{counted(gaps.n_complete_rows, 'row')} complete ({gaps.n_complete_rows / gaps.n_rows:.0%}).",
    )
    console.print(_columns(frame, gaps))
    if gaps.n_gaps:
        console.print(_patterns(gaps))


def _columns(frame, gaps) -> Table:
    table = Table(title="\nColumns", **LOOK)
    table.add_column("column", no_wrap=True, max_width=LONGEST_NAME)
    for name, width in (("gaps", 4), ("", 5), ("", 8), ("influx", 6), ("outflux", 7)):
        table.add_column(name, no_wrap=True, min_width=width, justify="left" if width == 8 else "right")
    table.add_column("holds")  # may wrap: the table must not be wider than the terminal
    for k, name in enumerate(frame):
        count = int(gaps.column_gaps[k])
        share = f"{count / gaps.n_rows:.1%}" if count else ""
        drawn = Text(bar(count / gaps.n_rows, 8), style="red")
        influx, outflux = f"{gaps.flux.influx[k]:.2f}", f"{gaps.flux.outflux[k]:.2f}"
        table.add_row(as_text(name), str(count or "·"), share, drawn, influx, outflux, as_text(_content(frame[name])))
    table.caption = (
        "influx: pairs of a gap in the column and a value in another, as a share of all values; "
        "it grows with the gaps. "
        "outflux: pairs of a value in the column and a gap in another, as a share of all gaps"
    )
    return table


def _patterns(gaps) -> Table:
    table = Table(title="\nPatterns: what is missing together", **LOOK)
    shown = range(min(len(gaps.patterns), MOST_PATTERNS))
    wide = gaps.n_columns > WIDEST_PATTERN
    for name in ("rows", "", "missing" if wide else "■ seen  · missing", "" if wide else "missing"):
        table.add_column(name, justify="right" if name == "rows" else "left", overflow="fold")
    for k in shown:
        missing = [gaps.names[j] for j in range(gaps.n_columns) if gaps.patterns.gaps[k, j]]
        listed = ", ".join(missing[:6]) + (f" and {len(missing) - 6} more" if len(missing) > 6 else "")
        cells = Text()
        for gap in gaps.patterns.gaps[k]:
            cells.append("·" if gap else "■", style="red" if gap else "cyan")
        count = int(gaps.patterns.counts[k])
        drawn = Text(bar(count / gaps.n_rows, 20), style="cyan") + Text(f" {count / gaps.n_rows:.1%}")
        table.add_row(str(count), drawn, *([] if wide else [cells]), as_text(listed or "nothing"))
    if len(gaps.patterns) > MOST_PATTERNS:
        rest = gaps.patterns.counts[MOST_PATTERNS:]
        table.caption = f"and {counted(len(rest), 'further pattern')} with {counted(rest.sum(), 'row')}"
    return table


def _content(values) -> str:
    """What a column holds, in a few words."""
    if values.isna().all():
        return "nothing"
    if values.dtype.kind not in "biuf":
        levels = sorted(set(values.dropna()))
        listed = ", ".join(levels)
        return listed if len(listed) <= LONGEST_LIST else f"{len(levels)} different texts"
    return f"{values.min():.5g} to {values.max():.5g}"


def bar(share: float, width: int) -> str:
    """A bar of blocks, in eighths of a character."""
    eighths = round(8 * width * share)
    if share > 0:
        eighths = max(1, eighths)
    return "█" * (eighths // 8) + ("" if eighths % 8 == 0 else "▏▎▍▌▋▊▉"[eighths % 8 - 1])
