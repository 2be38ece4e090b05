"""
A process that is hard to inspect or to kill:

	odd_process.py huge             with 1 GiB of environment
	odd_process.py silent MOUNT     with arguments and environment in a page of a file system that never responds (FUSE),
	                                which it mounts; as root only
	odd_process.py executed MOUNT   whose execve() never ends: it has a close-on-exec file of such a file system
	odd_process.py leaderless FILE  whose terminal has an ended process group in the foreground; FILE gets its id

The first three print "ready"; the first two then wait for input. The last waits.
"""
import ctypes
import mmap
import os
import signal
import struct
import sys
import threading
import time

PR_SET_MM, PR_SET_MM_MAP = 35, 14
libc = ctypes.CDLL(None, use_errno=True)
libc.sbrk.restype = ctypes.c_void_p
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]


def move(arguments, environment):
	"""Set the addresses that the kernel reports (prctl(2), PR_SET_MM_MAP). Each is (start, end)."""
	with open("/proc/self/stat") as f:
		fields = f.read().rsplit(")", 1)[1].split()
	field = lambda number: int(fields[number - 3])  # numbered as in proc(5)
	one = struct.pack("<12QII", field(26), field(27), field(45), field(46), field(47), libc.sbrk(0), field(28),
		*arguments, *environment, 0, 0, 0xFFFFFFFF)
	if libc.prctl(PR_SET_MM, PR_SET_MM_MAP, ctypes.c_char_p(one), len(one), 0) != 0:
		raise OSError(ctypes.get_errno(), "PR_SET_MM_MAP")


def huge():
	size = 1 << 30
	at = libc.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, -1, 0)
	move((at, at + 4096), (at, at + size))


# From linux/fuse.h: the requests needed to map a file. READ is never answered, nor FLUSH if ends is False; others get ENOSYS.
INIT, LOOKUP, FORGET, GETATTR, OPEN, READ, FLUSH = 26, 1, 2, 3, 14, 15, 25
ENOSYS = 38


def attributes(node, mode):
	return struct.pack("<6Q3I7I", node, 4096, 8, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def answer(fuse, ends=True):
	while True:
		request = os.read(fuse, 1 << 17)
		_, opcode, unique, node = struct.unpack("<IIQQ", request[:24])
		root, file = attributes(1, 0o40755), attributes(2, 0o100644)
		body = {
			INIT: struct.pack("<4I2H2I2H8I", 7, 31, 4096, 0, 16, 12, 4096, 1, 0, 0, *[0] * 8),
			LOOKUP: struct.pack("<4Q2I", 2, 0, 3600, 3600, 0, 0) + file,
			GETATTR: struct.pack("<Q2I", 3600, 0, 0) + (root if node == 1 else file),
			OPEN: struct.pack("<QII", 1, 0, 0),
		}.get(opcode)
		if body is not None:
			os.write(fuse, struct.pack("<IiQ", 16 + len(body), 0, unique) + body)
		elif opcode == FLUSH and not ends:
			print("ready", flush=True)
		elif opcode not in (FORGET, READ):
			os.write(fuse, struct.pack("<IiQ", 16, -ENOSYS, unique))


def mount(place):
	fuse = os.open("/dev/fuse", os.O_RDWR)
	options = f"fd={fuse},rootmode=40000,user_id=0,group_id=0".encode()
	if libc.mount(b"silent", place.encode(), b"fuse.silent", 0, options) != 0:
		raise OSError(ctypes.get_errno(), "mount")
	return fuse


def silent(place):
	fuse = mount(place)
	threading.Thread(target=answer, args=(fuse,), daemon=True).start()
	file = os.open(os.path.join(place, "file"), os.O_RDONLY)
	at = libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_SHARED, file, 0)
	os.close(file)  # FLUSH is still answered: a process that waits for itself cannot be killed
	move((at, at + 4096), (at, at + 4096))


def executed(place):
	fuse = mount(place)
	if os.fork() == 0:
		os.setsid()  # not part of the session that the test inspects
		answer(fuse, False)
	os.close(fuse)
	os.open(os.path.join(place, "file"), os.O_RDONLY)
	os.execv("/bin/sleep", ["sleep", "1000"])


def leaderless(file):
	signal.signal(signal.SIGTTOU, signal.SIG_IGN)
	leader = os.fork()
	if leader == 0:
		time.sleep(1000)
	os.setpgid(leader, leader)
	os.tcsetpgrp(0, leader)
	os.kill(leader, signal.SIGKILL)
	os.waitpid(leader, 0)
	with open(file, "w") as f:
		f.write(f"{leader}\n")
	time.sleep(1000)


def main(kind, *rest):
	{"huge": huge, "silent": silent, "executed": executed, "leaderless": leaderless}[kind](*rest)
	print("ready", flush=True)
	sys.stdin.readline()


main(*sys.argv[1:])
