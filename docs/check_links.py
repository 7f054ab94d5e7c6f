"""Check that the links between the pages of a built site lead to a page, and to a place on it: check_links.py SITE."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The places on a page, and where its links lead."""

    def __init__(self, path: Path):
        super().__init__()
        self.places: set[str] = set()
        self.links: set[str] = set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.places |= {values[name] for name in ("id", "name") if values.get(name)}
        self.links |= {values[name] for name in ("href", "src") if values.get(name)}


def broken_links(site: Path) -> list[str]:
    """The links that lead nowhere, each with the page it is on."""
    pages = {path.resolve(): Page(path) for path in site.rglob("*.html") if "_static" not in path.parts}
    broken = []
    for path, page in pages.items():
        for link in sorted(page.links):
            url = urlsplit(link)
            if url.scheme or url.netloc:
                continue
            target = (path.parent / unquote(url.path)).resolve() if url.path else path
            place = unquote(url.fragment)
            if not target.exists() or (place and target in pages and place not in pages[target].places):
                broken.append(f"{path.relative_to(site.resolve())}: {link}")
    return broken


if __name__ == "__main__":
    found = broken_links(Path(sys.argv[1]))
    print("\n".join(found) or "All internal links lead somewhere.")
    sys.exit(bool(found))
