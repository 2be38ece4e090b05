"""
A client and an impostor of the holder's protocol (pty/wire.h), for tests: node.js has no SOCK_SEQPACKET sockets.

	holder.py attach DIRECTORY [--hold]   attach; prints "status N, M descriptors"; --hold: stay attached until the standard
	                                      input ends, and print "taken" when another process attaches
	holder.py fake DIRECTORY KIND...      listen in place of a holder, until the standard input ends; prints "ready", and each
	                                      request as "asked TYPE"; several run in separate processes

KIND: mute, full (accepts no connection), close, garbage, short, refuse, echo (returns the message), wrong-fds,
directory-fds, fifo-fds, many-fds.
"""
import os
import select
import socket
import struct
import sys

MAGIC, VERSION, ATTACH, TAKEN = 0x48435352, 1, 2, 7
SIZE, BODY = 96, 32


def message(kind, body=b"", status=0, a=0, version=VERSION):
	return struct.pack("<IHHIiIIII", MAGIC, version, kind, 1, status, a, 0, 0, 0) .ljust(BODY, b"\0")[:BODY] + body.ljust(SIZE - BODY, b"\0")


def type_of(m):
	return struct.unpack("<H", m[6:8])[0] if len(m) >= 8 else 0


def new_socket():
	return socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def attach(directory, hold):
	s = new_socket()
	os.chdir(directory)
	s.connect("s")
	s.send(message(ATTACH))
	m, fds, _, _ = socket.recv_fds(s, SIZE, 16)
	print(f"status {struct.unpack('<i', m[12:16])[0]}, {len(fds)} descriptors", flush=True)
	while hold:
		ready, _, _ = select.select([s, sys.stdin], [], [])
		if s in ready:
			m = s.recv(SIZE)
			print("taken" if type_of(m) == TAKEN else "gone", flush=True)
			hold = False
		if sys.stdin in ready and not os.read(0, 1):
			hold = False


def descriptors(kind):
	if kind == "directory-fds":
		return [os.open("/", os.O_RDONLY)] * 5
	if kind == "fifo-fds":
		os.mkfifo("fifo", 0o600)
		return [os.open("fifo", os.O_RDONLY | os.O_NONBLOCK)] * 5
	if kind == "many-fds":
		return [os.open("/dev/null", os.O_RDWR)] * 60
	return [os.open("/dev/null", os.O_RDWR)] * 5


def answer(s, kind, m):
	if kind == "close":
		s.close()
	elif kind == "garbage":
		s.send(os.urandom(SIZE))
	elif kind == "short":
		s.send(m[:20])
	elif kind == "echo":
		s.send(m)
	elif kind == "refuse":
		s.send(message(type_of(m), status=-1))
	elif kind.endswith("-fds"):
		socket.send_fds(s, [message(ATTACH)], descriptors(kind))


def say(text):
	os.write(1, f"{text}\n".encode())  # one write: several processes print here


def fake(directory, kind):
	os.chdir(directory)
	listener = new_socket()
	if os.path.exists("s"):
		os.rename("s", "real")
	listener.bind("s")
	listener.listen(0 if kind == "full" else 16)
	say("ready")
	peers = []
	while True:
		ready, _, _ = select.select([sys.stdin, *([] if kind == "full" else [listener]), *peers], [], [])
		for s in ready:
			if s is sys.stdin:
				return
			if s is listener:
				peers.append(listener.accept()[0])
				continue
			try:
				m = s.recv(SIZE)
			except OSError:
				m = b""
			if m:
				say(f"asked {type_of(m)}")
				try:
					answer(s, kind, m)
				except OSError:
					pass  # the server has closed it
			if not m or s.fileno() < 0:
				peers.remove(s)
				s.close()


def fakes(pairs):
	for at in range(0, len(pairs), 2):
		if os.fork() == 0:
			return fake(*pairs[at:at + 2])
	for _ in range(0, len(pairs), 2):
		os.wait()


def main(command, directory, *rest):
	if command == "attach":
		attach(directory, "--hold" in rest)
	elif command == "fake":
		fakes([directory, *rest])


main(*sys.argv[1:])
