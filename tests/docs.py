#!/usr/bin/env python3
"""Check the documents against the tree and the program. Prints a line for each error.

    tests/docs.py [--self-test] SOURCE-ROOT RINGSIDE

- Every folder with C sources has a README.md, whose map names every pair of the folder, and no other.
- The table of folders in the top README.md has every folder, and no other.
- ws/serve/README.md has the help of `ringside serve` word for word, and ./run shows it where nothing is built.
- The man page has every option of the server.
"""
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

NAME = re.compile(r"`([^`]+)`")
LINKED = re.compile(r"\[`[^]]*\]\([^)]*\)")
LISTED = re.compile(r"^\| \[`([a-z_/]*)`\]\(\1/README\.md\) ", re.MULTILINE)


def stem(name):
    return re.sub(r"\.[ch]$", "", name)


def find_folders(root):
    """The folders with C sources, relative to root."""
    return sorted({str(path.parent.relative_to(root)) for layer in ("ring", "pty", "shell", "ws")
        for path in (root / layer).rglob("*.[ch]")})


def find_pairs(folder):
    """The contents of a folder: NAME for NAME.c, NAME.h or both; other files by full name."""
    skipped = ("meson.build", "README.md")
    return {stem(each.name) for each in os.scandir(folder) if each.is_file() and each.name not in skipped}


def read_mapped(text):
    """Each `name` in the first column of any table of a README."""
    cells = re.findall(r"^\| ([^|]*)", text, re.MULTILINE)
    return {stem(name) for cell in cells for name in NAME.findall(cell)}


def read_claimed(text):
    """Names in the maps: tables that begin with | pair | or | file |, without links to folders."""
    found = set()
    in_map = False
    for line in text.splitlines():
        in_map = line.startswith("|") and (in_map or bool(re.match(r"\| (pair|file) \|", line)))
        if in_map:
            found.update(stem(name) for name in NAME.findall(LINKED.sub("", line.split("|")[1])))
    return found


def check_folders(root, _):
    for folder in find_folders(root):
        readme = root / folder / "README.md"
        if not readme.is_file():
            yield f"{folder}: has no README.md"
            continue
        text = readme.read_text()
        pairs = find_pairs(root / folder)
        for pair in sorted(pairs - read_mapped(text)):
            yield f"{folder}/README.md: its map lacks {pair}"
        for pair in sorted(read_claimed(text) - pairs):
            yield f"{folder}/README.md: its map has {pair}, which does not exist"


def check_table(root, _):
    listed = LISTED.findall((root / "README.md").read_text())
    for folder in find_folders(root):
        if folder not in listed:
            yield f"README.md: the table of folders has no {folder}"
    for folder in listed:
        if not (root / folder / "README.md").is_file():
            yield f"README.md: the table of folders has {folder}, which has no README.md"


def read_block(text, word):
    """The fenced blocks of a README that begin with a word."""
    blocks = re.findall(r"^```[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return "".join(block for block in blocks if block.startswith(word))


def check_options(root, program):
    shown = subprocess.run([program, "serve", "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
    # The rest is about the other commands.
    shown = shown.split("\n\nAgainst a running server")[0].rstrip("\n") + "\n"
    documented = read_block((root / "ws/serve/README.md").read_text(), "Usage: ringside serve")
    if documented != shown:
        yield from difflib.unified_diff(documented.splitlines(), shown.splitlines(), "ws/serve/README.md",
            "ringside serve --help", lineterm="")
        yield "ws/serve/README.md: its options differ from ringside serve --help"
    manual = (root / "ws/client/ringside.1").read_text().replace("\\-", "-")
    for option in re.findall(r"(?:^  |, )(--[a-z-]+)", shown, re.MULTILINE):
        if not re.search(rf"{option}([^a-z-]|$)", manual, re.MULTILINE):
            yield f"ws/client/ringside.1: does not name {option}"


def check_run(root, _):
    """./run --help in a tree where nothing is built reads the README."""
    with tempfile.TemporaryDirectory() as bare:
        for name in ("run", "tests/setup.sh", "ws/serve/README.md"):
            (pathlib.Path(bare) / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, pathlib.Path(bare) / name)
        done = subprocess.run([f"{bare}/run", "--help"], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        yield "./run --help: fails"
    if "  --ping-interval SECONDS" not in done.stdout:
        yield "./run --help: lacks options of the server"


CHECKS = (check_folders, check_table, check_options, check_run)

# (check, error it must report, file, change): the file is edited (pattern, replacement), added or removed.
BROKEN = (
    (check_folders, "ring/README.md: its map lacks scan", "ring/README.md", (r"(?m)^\| `scan` .*\n", "")),
    (check_folders, "ring/README.md: its map lacks fresh", "ring/fresh.c", "add"),
    (check_folders, "ring/README.md: its map has scan, which does not exist", "ring/scan.[ch]", "remove"),
    (check_folders, "pty/holder: has no README.md", "pty/holder/README.md", "remove"),
    (check_table, "README.md: the table of folders has no ring/search", "README.md", (r"(?m)^\| \[`ring/search`.*\n", "")),
    (check_table, "README.md: the table of folders has pty/holder, which", "pty/holder/*", "remove"),
    (check_options, "its options differ", "ws/serve/README.md", ("--ring-size SIZE ", "--ring-size BYTES")),
    (check_options, "ws/client/ringside.1: does not name --clipboard", "ws/client/ringside.1", (".*clipboard.*\n", "")),
    (check_run, "./run --help: lacks", "ws/serve/README.md", ("(?m)^Usage: ringside serve", "Usage:")),
)


def copy_tree(root, tree):
    for name in ("ring", "pty", "shell", "ws"):
        shutil.copytree(root / name, tree / name)
    (tree / "tests").mkdir()
    for name in ("README.md", "run", "tests/setup.sh"):
        shutil.copy(root / name, tree / name)


def break_tree(tree, name, change):
    """Apply a change to the files. Returns a function that reverts it."""
    before = {path: path.read_bytes() for path in tree.glob(name) if path.is_file()}
    if change == "add":
        (tree / name).touch()
    elif change == "remove":
        for path in before:
            path.unlink()
    else:
        for path in before:
            path.write_text(re.sub(*change, path.read_text()))

    def restore():
        if change == "add":
            (tree / name).unlink()
        for path, content in before.items():
            path.write_bytes(content)

    return restore


def self_test(root, program):
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        copy_tree(root, tree)
        for check, words, name, change in BROKEN:
            restore = break_tree(tree, name, change)
            if not any(words in line for line in check(tree, program)):
                yield f'self-test: no check reports "{words}" after {name}: {change}'
            restore()


def main():
    arguments = sys.argv[1:]
    testing = arguments[:1] == ["--self-test"]
    if len(arguments) != 2 + testing:
        sys.exit(__doc__)
    root, program = (pathlib.Path(each).resolve() for each in arguments[-2:])
    if testing:
        found = list(self_test(root, program))
    else:
        found = [line for check in CHECKS for line in check(root, program)]
    print("".join(line + "\n" for line in found), end="")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
