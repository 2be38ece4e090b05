#!/usr/bin/env python3
"""Run `meson test` in a build tree, and run each failed test again, alone.

    tests/suite.py [--after GROUP] TREE RESULTS [ARGUMENT OF meson test…]

A test that passes in one of its RETRIES counts as passed and is reported as flaky. GROUP is a process group that runs beside
the tests: before a retry it gets full priority and must end. Appends one line for each result to RESULTS:

    passed N | skipped N | flaky NAME LOG | failed NAME LOG | left WHAT…

LOG is TREE/meson-logs/failed/NAME.log, with the output of the first failure. Exits with 0 if all passed, with FAILED if a
test failed; with any other status RESULTS is not complete.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import hang
import leftovers

FAILED = 10  # not 1, with which Python ends when this program fails
RETRIES = 2
RETRIED_MAX = 20  # more failures are not flaky tests
GOOD = {"OK", "EXPECTEDFAIL"}


class Failure:
    """A test that has failed, and how to run it again."""

    def __init__(self, record, folder):
        suites, _, self.test = record["name"].rpartition(" / ")
        self.suite = suites.split("+")[0]  # project:suite; a unit and an integration test may have the same name
        self.name = f"{self.suite.rpartition(':')[2]}/{self.test}"
        self.log = folder / (self.name.replace("/", "-") + ".log")
        self.log.write_text(describe(record))


def describe(record):
    """One run of a test, as text."""
    parts = [f"{record['name']}: {record['result']}, status {record['returncode']}, {record['duration']:.1f} s",
        " ".join(record["command"]), record.get("stdout") or "", record.get("stderr") or "", record.get("hung", "")]
    return "\n".join(parts) + "\n"


def run_meson(tree, logbase, arguments):
    """Returns meson's exit status and a record for each test that ran."""
    log = tree / "meson-logs" / f"{logbase}.json"
    log.unlink(missing_ok=True)
    meson = subprocess.Popen(["meson", "test", "-C", tree, "--no-rebuild", "--print-errorlogs", "--logbase", logbase, *arguments])
    watch = hang.Watch(tree, meson.pid)
    while (child := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT).si_pid) != meson.pid:
        os.waitpid(child, 0)  # an orphan of a test, see leftovers.py
    status = meson.wait()
    hung = watch.stop()
    records = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    for record in records:
        record["hung"] = hung.get(tuple(record["command"]), "")
    return status, records


def wait_for_group(group):
    """Give a process group full priority and wait until it has ended."""
    try:
        os.setpriority(os.PRIO_PGRP, group, 0)
    except OSError:
        pass  # the group has ended, or this needs root
    try:
        while True:
            os.killpg(group, 0)
            time.sleep(0.2)
    except ProcessLookupError:
        pass


def passes_alone(tree, failure):
    """Whether a retry passes. Adds the output of failed retries to the log."""
    for _ in range(RETRIES):
        print(f"Running {failure.name} again, alone.", flush=True)
        status, records = run_meson(tree, "retrylog", ["--num-processes", "1", "--suite", failure.suite, failure.test])
        if status == 0 and records and all(record["result"] in GOOD for record in records):
            return True
        with failure.log.open("a") as log:
            log.writelines(f"\n--- once more, alone: {describe(record)}" for record in records)
    return False


def collect_failures(tree, records):
    """The failures among the records, each test once, with their logs written."""
    folder = tree / "meson-logs" / "failed"
    folder.mkdir(parents=True, exist_ok=True)
    failures = {}
    for record in records:
        if record["result"] not in GOOD | {"SKIP"} and record["name"] not in failures:
            failures[record["name"]] = Failure(record, folder)
    return list(failures.values())


def main():
    words = sys.argv[1:]
    group = int(words[1]) if words[0] == "--after" else None
    tree, results, *arguments = words[2:] if group else words
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    folder = leftovers.start()
    try:
        lines, broken = run_tests(pathlib.Path(tree).resolve(), group, arguments)
    finally:
        left = leftovers.finish(folder)
    with open(results, "a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in [*lines, *(f"left {each}" for each in left)])
    return FAILED if broken else 0


def run_tests(tree, group, arguments):
    """Returns the lines for the results, and whether a test has failed."""
    status, records = run_meson(tree, "testlog", arguments)
    failures = collect_failures(tree, records)
    if failures and group:
        wait_for_group(group)
    lines = []
    passed = sum(record["result"] in GOOD for record in records)
    broken = False
    for i, failure in enumerate(failures):
        if i < RETRIED_MAX and passes_alone(tree, failure):
            print(f"flaky: {failure.name} (first failure: {failure.log})", flush=True)
            lines.append(f"flaky {failure.name} {failure.log}")
            passed += 1
        else:
            lines.append(f"failed {failure.name} {failure.log}")
            broken = True
    # meson exits with the number of failures; otherwise it did not run all tests.
    bad = sum(record["result"] not in GOOD | {"SKIP"} for record in records)
    if status != bad % 256:
        print(f"meson test ended with status {status}.", flush=True)
        lines.append(f"failed meson-test {tree / 'meson-logs'}")
        broken = True
    skipped = sum(record["result"] == "SKIP" for record in records)
    return [*lines, f"passed {passed}", f"skipped {skipped}"], broken


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
