#!/usr/bin/env python3
"""Run clang-tidy with .clang-tidy on our sources, in parallel, except on those that are unchanged since they were clean. Needs
a tree that is configured and built, because the build records includes.

    tests/tidy.py [--deep] [SOURCE…]    default: all sources of the server, its client and its holder

Without SOURCE only the RECENT sources that were changed last are analyzed; the others get all other checks, which take a
fifth of the time. The analyzer is limited to NODES states for each function. --deep analyzes all sources with the
analyzer's own limit, which takes three times as long.

TREE/tidy/ has a file for each clean source, named by the hash of the source, its includes, its compile command, .clang-tidy
and clang-tidy. Prints what is wrong; exits with 1 if anything is.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
OURS = re.compile(r"(ring|pty|shell|ws)/.*\.c|main\.c")
# The tree's warning options are gcc's.
ARGUMENTS = ["--quiet", "--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-error"]
NODES = 60000  # its own limit is 225,000; below 50,000 it gives false positives
BOUNDED = [f"--extra-arg={each}" for each in ("-Xclang", "-analyzer-config", "-Xclang", f"max-nodes={NODES}")]
WITHOUT_ANALYZER = ["--checks=-clang-analyzer-*"]
RECENT = 150
FORGET_AFTER = 14 * 86400  # seconds; so switching branches costs nothing


def find_tree():
    for name in ("build-asan", "build"):
        if (ROOT / name / "compile_commands.json").is_file():
            return ROOT / name
    sys.exit("tidy: no configured tree: meson setup build-asan -Dtests=true")


def read_commands(tree):
    """{source relative to ROOT: {output, command}} of our sources."""
    found = {}
    for each in json.loads((tree / "compile_commands.json").read_text()):
        path = pathlib.Path(each["directory"], each["file"]).resolve()
        source = os.path.relpath(path, ROOT)
        if OURS.fullmatch(source):
            found.setdefault(source, each)
    return found


def read_includes(tree):
    """{object: [paths that it includes]}, as ninja recorded in the last build."""
    listed = subprocess.run(["ninja", "-C", tree, "-t", "deps"], stdout=subprocess.PIPE, text=True, check=True)
    found = {}
    for block in listed.stdout.split("\n\n"):
        head, *paths = block.strip().split("\n")
        if "(VALID)" in head:
            found[head.split(":")[0]] = [path.strip() for path in paths]
    return found


def run_git(*arguments):
    """What git prints; empty if there is no git or no repository."""
    try:
        return subprocess.run(["git", "-C", ROOT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    except OSError:
        return ""


def find_recent(sources):
    """The RECENT sources that were changed last, or whose headers were; all sources if git does not have the whole history."""
    if run_git("rev-parse", "--is-shallow-repository").strip() != "false":
        return set(sources)
    known, found = set(sources), set()
    changed = run_git("diff", "--name-only", "HEAD") + run_git("log", "--format=", "--name-only")
    for path in changed.split("\n"):
        source = re.sub(r"\.h$", ".c", path)
        if source in known:
            found.add(source)
            if len(found) == RECENT:
                break
    return found


class Cache:
    """The clean sources: one empty file each, named by a hash."""

    def __init__(self, tree):
        self.folder = tree / "tidy"
        self.folder.mkdir(exist_ok=True)
        self.tree = tree
        self.includes = read_includes(tree)
        self.hashes = {}
        version = subprocess.run(["clang-tidy", "--version"], stdout=subprocess.PIPE, check=True).stdout
        self.base = hashlib.sha256(version + (ROOT / ".clang-tidy").read_bytes()).digest()

    def hash_file(self, path):
        if path not in self.hashes:
            self.hashes[path] = hashlib.sha256((self.tree / path).read_bytes()).digest()
        return self.hashes[path]

    def stamp(self, command, arguments):
        """The path of a source's file; None if its includes are unknown."""
        paths = self.includes.get(command["output"])
        if not paths:
            return None
        sum_ = hashlib.sha256(self.base + repr((command["command"], arguments)).encode())
        for path in sorted({command["file"], *paths}):
            sum_.update(path.encode() + self.hash_file(path))
        return self.folder / sum_.hexdigest()

    def forget(self):
        for stamp in self.folder.iterdir():
            if stamp.stat().st_mtime < time.time() - FORGET_AFTER:
                stamp.unlink()


def run_tidy(tree, arguments, source):
    """Findings as text, or ""."""
    done = subprocess.run(["clang-tidy", "-p", tree, *arguments, ROOT / source], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True)
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stdout.split("\n") if re.search(r"error:|warning:", line)]
    return "\n".join(lines) or f"{source}: clang-tidy exited with {done.returncode}\n{done.stdout}"


def choose_arguments(deep, analyzed):
    return ARGUMENTS if deep else ARGUMENTS + (BOUNDED if analyzed else WITHOUT_ANALYZER)


def main():
    tree = find_tree()
    commands = read_commands(tree)
    names = sys.argv[1:]
    deep = names[:1] == ["--deep"]
    sources = [os.path.relpath(name, ROOT) for name in names[deep:]] or sorted(commands)
    unknown = [source for source in sources if source not in commands]
    if unknown or not sources:
        sys.exit(f"tidy: not built in {tree.name}: {' '.join(unknown) or 'anything'}")
    analyzed = set(sources) if names else find_recent(sources)
    arguments = {source: choose_arguments(deep, source in analyzed) for source in sources}
    cache = Cache(tree)
    stamps = {source: cache.stamp(commands[source], arguments[source]) for source in sources}
    todo = [source for source in sources if not (stamps[source] and stamps[source].exists())]
    # Those that take longest first, so that none is left alone at the end.
    todo.sort(key=lambda source: (source not in analyzed, -(ROOT / source).stat().st_size))
    for source in set(sources) - set(todo):
        stamps[source].touch()
    failed = False
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for source, wrong in zip(todo, pool.map(lambda each: run_tidy(tree, arguments[each], each), todo)):
            if wrong:
                print(wrong, flush=True)
                failed = True
            elif stamps[source]:
                stamps[source].touch()
    cache.forget()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
