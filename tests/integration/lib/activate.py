"""
Socket activation as systemd does it (sd_listen_fds(3), sd_notify(3)), for tests.

	activate.py once  WHAT… -- COMMAND…   open the named descriptors from 3 on, and execute the command
	activate.py serve WHAT… -- COMMAND…   the same in a child on the first connection, and again when it has ended; SIGTERM ends both, with
	                                      the child's status. Prints "started PID", "notified WORDS" and "ended STATUS" on standard error

WHAT: tcp:ADDRESS:PORT, unix:PATH, abstract:NAME, udp, silent (does not listen), connected, file, closed; or NAME=VALUE, a variable
that is set last; the value "PID" stands for the process's pid.
"""
import os
import select
import signal
import socket
import subprocess
import sys


def open_one(what):
	kind, _, rest = what.partition(":")
	if kind == "tcp":
		host, _, port = rest.rpartition(":")
		host = host.strip("[]")
		s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
		s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
		s.bind((host, int(port)))
	elif kind in ("unix", "abstract"):
		s = socket.socket(socket.AF_UNIX)
		s.bind(rest if kind == "unix" else "\0" + rest)
	elif kind == "udp":
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		s.bind(("127.0.0.1", 0))
		return s
	elif kind == "connected":
		return socket.socketpair()[0]
	elif kind == "file":
		return open("/dev/null", "rb")
	else:
		s = socket.socket()
		s.bind(("127.0.0.1", 0))
		if kind == "silent":
			return s
	s.listen(64)
	return s


def pass_sockets(sockets, variables):
	"""In the process that executes the command: make the sockets descriptors 3, 4, …"""
	high = [os.dup2(s.fileno(), 100 + n) if s else -1 for n, s in enumerate(sockets)]
	for n, fd in enumerate(high):
		if fd >= 0:
			os.dup2(fd, 3 + n)
			os.close(fd)
		else:
			os.closerange(3 + n, 4 + n)
	environment = {"LISTEN_PID": "PID", "LISTEN_FDS": str(len(sockets)), "LISTEN_FDNAMES": ":".join(["ringside"] * len(sockets)), **variables}
	for name, value in environment.items():
		os.environ[name] = str(os.getpid()) if value == "PID" else value


def say(*words):
	os.write(2, (" ".join(map(str, words)) + "\n").encode())


def serve(sockets, variables, command):
	child = None
	notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
	notify.bind("\0ringside-test-%d" % os.getpid())
	signals, wakeup = os.pipe()
	os.set_blocking(wakeup, False)
	signal.set_wakeup_fd(wakeup)
	ending = []
	signal.signal(signal.SIGTERM, lambda *_: ending.append(1))
	signal.signal(signal.SIGCHLD, lambda *_: None)
	while True:
		idle = sockets if child is None and not ending else []
		ready = select.select([signals, notify, *idle], [], [])[0]
		if notify in ready:
			say("notified", notify.recv(4096).decode())
			continue
		if signals in ready:
			os.read(signals, 4096)
			if ending and child is None:
				sys.exit(0)
			if ending:
				child.send_signal(signal.SIGTERM)
			if child and child.poll() is not None:
				say("ended", child.returncode)
				if ending:
					sys.exit(child.returncode % 256)
				child = None
			continue
		environment = {**variables, "NOTIFY_SOCKET": "@ringside-test-%d" % os.getpid()}
		child = subprocess.Popen(command, close_fds=False, preexec_fn=lambda: pass_sockets(sockets, environment), env=None)
		say("started", child.pid)


def main():
	mode, rest = sys.argv[1], sys.argv[2:]
	split = rest.index("--")
	words, command = rest[:split], rest[split + 1:]
	variables = dict(w.split("=", 1) for w in words if "=" in w.split(":")[0])
	sockets = [None if w == "closed" else open_one(w) for w in words if "=" not in w.split(":")[0]]
	if mode == "serve":
		serve(sockets, variables, command)
	pass_sockets(sockets, variables)
	os.execvp(command[0], command)


main()
