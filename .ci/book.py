#!/usr/bin/env python3
"""Prepares the pages of docs for mdBook, and checks the book.

mdBook calls this script as a preprocessor (docs/book.toml). A book contains only the files of docs, but the pages also
refer to other files of the repository. The script embeds charts from outside of docs into the pages. It replaces links
to other files outside of docs by the text of the link and the path of the file, or in a table by the text alone.

`book.py --check FOLDER` checks that each link and each image of the book in FOLDER leads to a file and an anchor.
"""

import base64
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
FENCED = re.compile(r"(^```.*?^```$)", re.M | re.S)
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def inside(page, match):
    """The text of the book for one link or image of a page."""
    image, text, link = match.groups()
    file = (DOCS / page).parent / unquote(link.partition("#")[0])
    file = file.resolve()
    if "://" in link or link.startswith("#") or file.is_relative_to(DOCS) or not file.is_file():
        return match[0]
    if image:
        data = base64.b64encode(file.read_bytes()).decode()
        return f"![{text}](data:image/svg+xml;base64,{data})"
    line = match.string[match.string.rfind("\n", 0, match.start()) + 1 :]
    # A path would make a column of a table too wide.
    return text if line.startswith("|") else f"{text} (`{file.relative_to(ROOT)}`)"


def prepare(items):
    """Rewrites the pages of a book, and the pages below them."""
    for item in items:
        chapter = item.get("Chapter") if isinstance(item, dict) else None
        if chapter is None:
            continue
        if chapter["path"]:
            # Every second part is a code block.
            parts = FENCED.split(chapter["content"])
            parts[::2] = [LINK.sub(lambda match: inside(chapter["path"], match), part) for part in parts[::2]]
            chapter["content"] = "".join(parts)
        prepare(chapter["sub_items"])


class Page(HTMLParser):
    """The links and the anchors of an HTML page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        """Collects the attributes of an element."""
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name == "id":
                self.anchors.add(value)


def dead(folder):
    """The links of a book that lead to no file or no anchor."""
    # print.html repeats all pages, and the links of 404.html begin with the address of the site.
    files = [file for file in sorted(folder.rglob("*.html")) if file.name not in ("print.html", "404.html", "toc.html")]
    pages = {file: Page(file.read_text()) for file in files}
    for file, page in pages.items():
        for link in page.links:
            if re.match(r"[a-z+]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = (file.parent / unquote(path)).resolve() if path else file
            is_dead = not target.is_file() or not target.is_relative_to(folder)
            if is_dead or anchor and target in pages and unquote(anchor) not in pages[target].anchors:
                yield f"{PurePosixPath(file.relative_to(folder))}: {link}"


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--check":
        folder = Path(sys.argv[2]).resolve()
        found = list(dead(folder))
        print(*found, sep="\n", end="\n" if found else "")
        pages = sum(1 for _ in folder.rglob("*.html"))
        print(f"book: {pages} pages, {len(found)} dead links", file=sys.stderr)
        sys.exit(bool(found) or not pages)
    if len(sys.argv) == 3 and sys.argv[1] == "supports":
        sys.exit(sys.argv[2] != "html")
    _, book = json.load(sys.stdin)
    prepare(book["items"])
    json.dump(book, sys.stdout)


if __name__ == "__main__":
    main()
