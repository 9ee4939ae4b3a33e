#!/usr/bin/env python3
"""Measures the prose of pages, docstrings, configs and string literals: words per sentence, free "what" and retired words.

Usage: .ci/prose.py [--list] [PATH ...]

PATH is a Markdown page, a TOML file, a Rust file or a folder; without one, the whole repository is measured.
--list prints every line with a free "what" or a retired word, as FILE:LINE: word: text.

Code blocks, tables and generated blocks of a page are left out, as are literals of tests, and "what" in a question does
not count. A generated block is between two comments of HTML, of which the second begins with "/" or "end of".
The retired words are those of the style guide with one safe meaning; a word with a technical sense besides is not one.
"""

import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

RETIRED = {
    "look into": r"\blook(?:s|ed|ing)? into\b",
    "asks memory": r"\bask(?:s|ed|ing)? memory\b|\bmemory is asked\b",
    "the processor": r"\bthe processor(?:'s)?\b|\bprocessor time\b",
    "damage": r"\bdamag(?:e|ed|es|ing)\b",
    "refuse": r"\brefus(?:e|es|ed|al|als|ing)\b",
    "mend": r"\bmend(?:s|ed|ing)?\b",
    "tell": r"\b(?:tells?|told)\b",
    "anew": r"\banew\b",
    "beside": r"\bbesides?\b",
    "behind": r"\bbehind\b",
    "by itself": r"\bby (?:itself|themselves)\b",
    "law": r"\blaws?\b",
    "oracle": r"\boracles?\b",
    "shadow": r"\bshadows?\b",
    "league": r"\bleagues?\b",
    "kin": r"\bkin\b",
    "not equal": r"\bnot equal:",
    "frozen": r"\bfrozen\b",
    "signpost": r"\bsignposts?\b",
    "whole keys": r"\bwhole keys\b",
    "company": r"\bcompany\b",
    "whoever": r"\bwhoever\b|\bnobody\b",
    "hardly": r"\bhardly\b",
    "interval alone": r"% interval\b",
    "the documents": r"\bthe (?:five )?documents\b",
    "of one moment": r"\bof one moment\b",
    "less counts": r"\bless does not count\b|\bleast that counts\b",
    "held to": r"\bh(?:eld|olds?) to\b",
}
WHAT = re.compile(r"\bwhat(?:ever)?\b", re.I)
PATTERNS = {name: re.compile(pattern, re.I) for name, pattern in RETIRED.items()}
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
COMMENT = re.compile(r"\s*//[/!]?(.*)")


def tracked(paths):
    """The tracked files below the paths that have prose."""
    names = subprocess.run(["git", "ls-files", "--", *paths], capture_output=True, text=True, check=True).stdout.split("\n")
    return [Path(name) for name in names if name.endswith((".md", ".rs", ".toml")) and Path(name).is_file() and not Path(name).is_symlink()]


def markdown(path):
    """Numbered lines of running text; an empty line ends a sentence."""
    fenced = generated = False
    for number, line in enumerate(path.read_text().split("\n"), 1):
        bare = line.strip()
        if bare.startswith("```"):
            fenced = not fenced
            yield number, ""
        elif bare.startswith("<!-- "):
            generated = not re.match(r"<!-- (?:/|end of )", bare)
            yield number, ""
        elif fenced or generated or bare.startswith(("|", "<", "#")):
            yield number, ""
        elif re.match(r"(?:[-*]|\d+\.)\s", bare):
            yield number, ""
            yield number, re.sub(r"^(?:[-*]|\d+\.)\s+", "", bare)
        else:
            yield number, bare


def rust(path):
    """Numbered lines of docstrings and comments, and numbered string literals outside of tests."""
    comments, literals = [], []
    fenced = False
    tests = bool({"tests", "benches"} & set(path.parts))
    for number, line in enumerate(path.read_text().split("\n"), 1):
        tests = tests or line.startswith("mod tests {")
        comment = COMMENT.match(line)
        if comment:
            text = comment[1].strip()
            if text.startswith("```"):
                fenced = not fenced
                text = ""
            comments.append((number, "" if fenced or text.startswith(("#", "|")) else re.sub(r"^[-*]\s+", "", text)))
        else:
            fenced = False
            comments.append((number, ""))
            if not tests:
                literals += [(number, found) for found in LITERAL.findall(line) if " " in found]
    return comments, literals


def toml(path):
    """Numbered lines of comments, and of questions and titles."""
    for number, line in enumerate(path.read_text().split("\n"), 1):
        comment = re.match(r"\s*#\s?(.*)", line)
        text = re.match(r'\s*(?:question|title|note|summary)\s*=\s*"(.*)"', line)
        yield number, comment[1] if comment else ""
        if text:
            yield number, text[1]
            yield number, ""


def plain(text):
    """The text without markup: code becomes one word, a link its name."""
    text = re.sub(r"``?[^`]+``?", "code", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return text.replace("*", "")


class Count:
    """Words, sentences and marked words of one body of prose."""

    def __init__(self):
        self.words = self.sentences = self.what = 0
        self.retired = Counter()
        self.places = []

    def add(self, path, lines):
        """Adds numbered lines; sentences run over lines up to an empty one."""
        paragraph = []
        for number, text in [*lines, (0, "")]:
            if text:
                paragraph.append((number, text))
                continue
            if paragraph:
                self.paragraph(path, paragraph)
            paragraph = []

    def paragraph(self, path, lines):
        """Adds the lines of one paragraph."""
        text = plain(" ".join(text for _, text in lines))
        for sentence in re.split(r"(?<=[.!?])[\")]*\s+(?=[A-Z`\"(*]|code)", text):
            words = re.findall(r"[A-Za-z0-9][\w'’.,%×-]*", sentence)
            if not words:
                continue
            self.words += len(words)
            self.sentences += 1
            if not sentence.rstrip().endswith("?"):
                self.what += len(WHAT.findall(sentence))
        for number, text in lines:
            text = plain(text)
            if WHAT.search(text) and not text.rstrip().endswith("?"):
                self.places.append((path, number, "what", text))
            for name, pattern in PATTERNS.items():
                hits = len(pattern.findall(text))
                if hits:
                    self.retired[name] += hits
                    self.places.append((path, number, name, text))

    def merge(self, other):
        """Adds the numbers of another count."""
        self.words += other.words
        self.sentences += other.sentences
        self.what += other.what
        self.retired += other.retired

    def row(self, name):
        """The line of the table: words, words per sentence, and free "what" and retired words per 1,000 words."""
        per = 1000 / max(self.words, 1)
        retired = sum(self.retired.values())
        most = ", ".join(f"{word} {count}" for word, count in self.retired.most_common(4))
        return f"{name:<44} {self.words:>7} {self.words / max(self.sentences, 1):>9.1f} {self.what * per:>7.1f} {retired * per:>9.1f}  {most}"


def main():
    arguments = sys.argv[1:]
    if "--help" in arguments:
        print(__doc__.strip())
        return
    listed = "--list" in arguments
    paths = [argument for argument in arguments if argument != "--list"]
    counts = defaultdict(Count)
    for path in tracked(paths):
        if path.suffix == ".md":
            counts[f"page {path}"].add(path, markdown(path))
        elif path.suffix == ".rs":
            crate = "/".join(path.parts[:2])
            comments, literals = rust(path)
            counts[f"docstrings {crate}"].add(path, comments)
            for literal in literals:
                counts[f"literals {crate}"].add(path, [literal])
        elif path.parts[0] in ("configs", "experiments", "examples"):
            counts[f"configs {path.parts[0]}"].add(path, toml(path))
    if listed:
        for count in counts.values():
            for path, number, word, text in count.places:
                print(f"{path}:{number}: {word}: {text.strip()}")
        return
    print(f"{'prose':<44} {'words':>7} {'words/sen':>9} {'what/k':>7} {'retired/k':>9}  most of the retired words")
    sums = defaultdict(Count)
    for name in sorted(counts):
        print(counts[name].row(name))
        sums[name.split()[0]].merge(counts[name])
    for name, total in sums.items():
        print(total.row(f"all {name}"))


if __name__ == "__main__":
    main()
