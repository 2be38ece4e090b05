"""What a run of tests leaves behind: processes, mounts, control groups and temporary files.

This process is the subreaper, prctl(2), of the tests: it becomes the parent of orphans. Temporary files of tests are in a
directory of this run, $TMPDIR. So everything found belongs to this run, and not to another one on the machine.

The directory is in memory if this process is root and $TMPDIR is not set: ext4 searches long for a free inode after many files
have been removed.
"""
import ctypes
import itertools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

import hang

PR_SET_CHILD_SUBREAPER = 36
CLONE_NEWNS = 0x20000
MS_REC_PRIVATE = 0x4000 | 1 << 18
LIBC = ctypes.CDLL(None, use_errno=True)
MEMORY_MIN = 4 << 20  # KiB of available memory
MEMORY_MAX = 2 << 30  # bytes of files: tests write 150 MB at a time
GROUP = re.compile(r"ringside-test-(\d+)-")  # named by integration/lib/groups.mjs; the number is a pid
ENDS_WITHIN = 10  # seconds that processes get to exit


def make_directory():
    """Make a directory with a short name: paths of sockets have at most 107 characters, rows of terminals 80."""
    for i in itertools.count():
        folder = f"{tempfile.gettempdir()}/t{i}"
        try:
            os.mkdir(folder, 0o700)
            return folder
        except FileExistsError:
            pass


def is_memory_ample():
    available = re.search(r"^MemAvailable: *(\d+) kB$", hang.read("/proc/meminfo"), re.MULTILINE)
    return available is not None and int(available[1]) >= MEMORY_MIN


def put_in_memory(folder):
    """Mount a file system there that only this process and its children see, and that ends with them, if that is possible."""
    if os.geteuid() == 0 and is_memory_ample() and LIBC.unshare(CLONE_NEWNS) == 0:
        if LIBC.mount(b"none", b"/", None, MS_REC_PRIVATE, None) == 0:
            LIBC.mount(b"ringside-tests", folder.encode(), b"tmpfs", 0, b"size=%d" % MEMORY_MAX)


def start():
    """Become the subreaper of all processes from now on, and make a directory for their temporary files."""
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    on_disk = "TMPDIR" in os.environ
    folder = make_directory()
    if not on_disk:
        put_in_memory(folder)
    os.chmod(folder, 0o1777)  # some tests run as other users
    os.environ["TMPDIR"] = folder
    return folder


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        pass


def find_processes():
    """Living children of this process. After the tests these are leftovers."""
    reap()
    return [pid for pid, parent in hang.parents().items() if parent == os.getpid()]


def find_mounts(folder):
    points = [line.split()[4] for line in hang.read("/proc/self/mountinfo").splitlines()]
    return sorted((point for point in points if point.startswith(f"{folder}/")), reverse=True)


def find_groups():
    """Control groups of tests that have ended, inner ones first."""
    for root, folders, _ in os.walk("/sys/fs/cgroup"):
        for name in folders:
            pid = GROUP.match(name)
            if pid and not os.path.exists(f"/proc/{pid[1]}"):
                yield from sorted((each[0] for each in os.walk(os.path.join(root, name))), reverse=True)


def wait_for_none(act=lambda pid: None):
    deadline = time.monotonic() + ENDS_WITHIN
    while (pids := find_processes()) and time.monotonic() < deadline:
        for pid in pids:
            act(pid)
        time.sleep(0.1)
    return pids


def finish(folder):
    """Remove all leftovers. Returns a line for each."""
    left = [f"process {hang.describe(pid)}" for pid in wait_for_none()]
    wait_for_none(lambda pid: os.kill(pid, signal.SIGKILL))  # children of a killed process become ours
    for mount in find_mounts(folder):
        left.append(f"mount {mount}")
        subprocess.run(["umount", "-l", mount], check=False)
    for group in list(find_groups()):
        left.append(f"control group {group}")
        subprocess.run(["rmdir", group], check=False)
    left += [f"file {path}" for path in sorted(pathlib.Path(folder).iterdir())]
    if os.path.ismount(folder):
        if shutil.disk_usage(folder).free < MEMORY_MAX // 20:
            left.append(f"no space for temporary files in {folder}")
        subprocess.run(["umount", "-l", folder], check=False)
    shutil.rmtree(folder, ignore_errors=True)
    return left
