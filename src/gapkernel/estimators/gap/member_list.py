"""The members that were tried, as a user sees them."""

from __future__ import annotations

from typing import Any, NamedTuple


class MemberRow(NamedTuple):
    """A line of ``members_``.

    Attributes
    ----------
    member : str
    settings : dict
    score : float
        Out of fold; the higher the better.
    weight : float
        Its share in the answers; 0 for members that are not used.
    seconds : float
        What trying it took.
    """

    member: str
    settings: dict[str, Any]
    score: float
    weight: float
    seconds: float


class Members(tuple[MemberRow, ...]):
    """The members that were tried, the best first; printed as a table."""

    def __repr__(self) -> str:
        lines = [f"{'member':<24}{'score':>10}{'weight':>8}{'seconds':>9}  settings"]
        for row in self:
            settings = ", ".join(f"{name}={value}" for name, value in row.settings.items())
            lines.append(f"{row.member:<24}{row.score:>10.4f}{row.weight:>8.2f}{row.seconds:>9.1f}  {settings}")
        return "\n".join(lines)
