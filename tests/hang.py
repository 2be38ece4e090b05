#!/usr/bin/env python3
"""Processes of a test that hangs, and the stacks of those that run Ringside's programs.

    tests/hang.py TREE PID…    print that of these processes

A Watch checks the children of `meson test` every two seconds. Shortly before meson kills one for its timeout, the Watch
records all its descendants.
"""
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

EVERY = 2  # seconds between checks
AHEAD = 20  # seconds before meson's timeout, or half of a shorter timeout
STACKS_MAX = 8  # at most; each stops for about a second
TICKS = os.sysconf("SC_CLK_TCK")


def read(path):
    try:
        return pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def parents():
    """{pid: parent's pid} of all processes."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        fields = read(f"/proc/{name}/stat").rpartition(")")[2].split()
        if fields:
            found[int(name)] = int(fields[1])
    return found


def descendants(root):
    """The process and its descendants, parents before children."""
    tree = parents()
    found = [root]
    for pid in found:
        found.extend(each for each, parent in tree.items() if parent == pid)
    return found


def command(pid):
    return [part for part in read(f"/proc/{pid}/cmdline").split("\0") if part]


def age(pid):
    """Seconds since it started."""
    fields = read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return float(read("/proc/uptime").split()[0]) - int(fields[19]) / TICKS if fields else 0.0


def describe(pid):
    state = next((line.split(None, 1)[1] for line in read(f"/proc/{pid}/status").splitlines() if line.startswith("State:")), "gone")
    return f"{pid} {state} in {read(f'/proc/{pid}/wchan') or '?'}: {' '.join(command(pid))[:200]}"


def stacks(pid):
    try:
        done = subprocess.run(["gdb", "-p", str(pid), "-batch", "-nx", "-ex", "thread apply all backtrace 30"], timeout=60,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"stacks of {pid}: {error}"
    lines = [line for line in done.stdout.splitlines() if line.startswith(("#", "Thread"))]
    return f"stacks of {pid}:\n" + "\n".join(lines)


def is_ours(pid, tree):
    try:
        return os.readlink(f"/proc/{pid}/exe").startswith(f"{tree}/")
    except OSError:
        return False


def report(pids, tree):
    """The state of these processes, as text."""
    ours = [each for each in pids if is_ours(each, tree)]
    return "\n".join(["--- processes", *map(describe, pids), "--- stacks", *map(stacks, ours[:STACKS_MAX])]) + "\n"


class Watch:
    """Watches the tests that `meson test` runs, in a thread, until stop()."""

    def __init__(self, tree, meson_pid):
        self.tree = tree
        self.meson_pid = meson_pid
        self.found = {}  # command of a test that hung: report
        tests = json.loads((tree / "meson-info" / "intro-tests.json").read_text())
        self.limits = {tuple(each["cmd"]): each["timeout"] for each in tests}
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.over.wait(EVERY):
            for pid in [each for each, parent in parents().items() if parent == self.meson_pid]:
                key = tuple(command(pid))
                limit = self.limits.get(key)
                if limit and key not in self.found and age(pid) > limit - min(AHEAD, limit / 2):
                    self.found[key] = report(descendants(pid), self.tree)

    def stop(self):
        """Returns {command: report} of the tests that hung."""
        self.over.set()
        self.thread.join()
        return self.found


if __name__ == "__main__":
    print(report([int(each) for each in sys.argv[2:]], pathlib.Path(sys.argv[1]).resolve()), end="")
