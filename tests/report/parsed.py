"""A page as a browser's parser would see it, in brief."""

from __future__ import annotations

from collections import Counter
from html.parser import HTMLParser


class Parsed(HTMLParser):
    """Counts elements with the names of their attributes, and keeps values and text."""

    def __init__(self, page: str):
        super().__init__(convert_charrefs=True)
        self.elements: Counter[tuple[str, ...]] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.classes: Counter[str] = Counter()
        self.words: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements[(tag, *sorted(name for name, _ in attrs))] += 1
        for name, value in attrs:
            self.attributes.append((tag, name, value or ""))
            if name == "class":
                self.classes.update((value or "").split())

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)

    def handle_data(self, data):
        self.words.append(data)

    def count(self, tag: str) -> int:
        """Elements of that name."""
        return sum(n for (name, *_), n in self.elements.items() if name == tag)

    @property
    def text(self) -> str:
        """All text but that of scripts and styles too; enough to look for words."""
        return " ".join(" ".join(self.words).split())
