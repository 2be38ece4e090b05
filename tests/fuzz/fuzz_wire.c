/*
 * The holder's socket: packets of any length and content on three connections. A packet in the input is a byte that
 * chooses the connection and the form, a length, and the bytes; in the second form these are type, a and b of an
 * otherwise valid message.
 */
#include <signal.h>
#include <sys/types.h>

int fuzz_kill(pid_t pid, int signo);

#define kill fuzz_kill /* nothing here may signal a process */
#include "pty/holder/serve.c"
#undef kill

#include "tests/fuzz/fuzz.h"

#include <sys/eventfd.h>

#define PEERS 3

static struct holder h;
static struct ring_header header;
static _Atomic uint64_t resized, signalled;

/* The functions of other files that serve.c needs. */
int fuzz_kill(pid_t pid, int signo)
{
	(void)pid;
	signalled++;
	return signo < 0 || signo > 64 ? (errno = EINVAL, -1) : 0;
}

uint64_t holder_now_ms(void)
{
	return 1000;
}

int terminal_resize(struct holder *holder, unsigned rows, unsigned cols)
{
	(void)holder;
	resized++;
	return rows == 0 || cols == 0 ? -EINVAL : 0;
}

int terminal_open_second(struct holder *holder, char *name)
{
	if (holder->sources[EVENT_SOURCE_STDERR_PTY].fd >= 0)
		return -EBUSY;
	holder->sources[EVENT_SOURCE_STDERR_PTY].fd = eventfd(0, EFD_CLOEXEC);
	memset(name, 'x', 63);
	name[63] = '\0';
	return 0;
}

void feed_all(struct holder *holder)
{
	(void)holder;
}

int tree_signal(int signo)
{
	(void)signo;
	return 0;
}

int tree_signal_group(pid_t group, int signo, pid_t spared)
{
	(void)spared;
	return fuzz_kill(group, signo) < 0 ? -errno : 1;
}

int starter_client_send(struct holder *holder, enum starter_type type, int value)
{
	(void)holder;
	(void)type;
	(void)value;
	return -ESRCH;
}

int starter_client_send_terminal(struct holder *holder, int slave)
{
	(void)holder;
	(void)slave;
	return -ESRCH;
}

/* Read the answers and close the descriptors in them. Returns the number of messages. */
static unsigned read_answers(int fd, struct wire_message *last)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(32 * sizeof(int))];
	unsigned count = 0;
	for (;;) {
		struct iovec to = {.iov_base = last, .iov_len = sizeof *last};
		struct msghdr message = {.msg_iov = &to,
			.msg_iovlen = 1,
			.msg_control = control,
			.msg_controllen = sizeof control};
		ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT);
		if (n <= 0)
			return count;
		FUZZ_CHECK(n == sizeof *last && last->magic == WIRE_MAGIC);
		for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
			int fds[32];
			size_t number = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
			memcpy(fds, CMSG_DATA(c), number * sizeof(int));
			FUZZ_CHECK(number == WIRE_FDS && last->type == WIRE_ATTACH);
			while (number > 0)
				close(fds[--number]);
		}
		count++;
	}
}

static void prepare(int peers[PEERS])
{
	struct stream_shared *bytes = &header.bytes;
	h = (struct holder){.owner = -1,
		.end_connection = -1,
		.terminal_connection = -1,
		.starter_fd = -1,
		.shell_fd = -1,
		.shell = 12345};
	header.epoch = 42;
	h.ring.header = &header;
	h.ring.bytes.shared = bytes;
	h.ring_fd = h.control_fd = h.wake_fd = h.space_fd = eventfd(0, EFD_CLOEXEC);
	for (int i = 0; i < HOLDER_SOURCES; i++)
		h.sources[i].fd = -1;
	h.sources[EVENT_SOURCE_TERMINAL].fd = dup(h.ring_fd);
	for (int i = 0; i < HOLDER_CONNECTIONS; i++)
		h.connections[i] = -1;
	for (int i = 0; i < PEERS; i++) {
		int pair[2];
		FUZZ_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
		h.connections[i] = pair[0];
		peers[i] = pair[1];
	}
}

static void finish(const int peers[PEERS])
{
	for (int i = 0; i < HOLDER_CONNECTIONS; i++)
		if (h.connections[i] >= 0)
			close(h.connections[i]);
	for (int i = 0; i < PEERS; i++)
		close(peers[i]);
	for (int i = 0; i < HOLDER_SOURCES; i++)
		if (h.sources[i].fd >= 0)
			close(h.sources[i].fd);
	close(h.ring_fd);
}

static void one_packet(const int peers[PEERS], uint8_t form, const uint8_t *bytes, size_t length)
{
	int index = form % PEERS, owner = h.owner;
	struct wire_message m = {.magic = WIRE_MAGIC, .version = WIRE_VERSION}, answer = {0};
	uint64_t before = resized + signalled;
	bool ending = h.ending;
	if (h.connections[index] < 0)
		return;
	if (form & 0x80) {
		m.type = length > 0 ? bytes[0] % 10 : 0;
		memcpy(&m.a, bytes + (length > 0),
			length > 1 ? length - 1 < 16 ? length - 1 : 16 : 0);
		FUZZ_CHECK(send(peers[index], &m, sizeof m, MSG_DONTWAIT) == sizeof m);
	} else {
		FUZZ_CHECK(send(peers[index], bytes, length, MSG_DONTWAIT) == (ssize_t)length);
	}
	serve_connection(&h, index);
	FUZZ_CHECK(h.owner >= -1 && h.owner < PEERS && (h.owner < 0 || h.connections[h.owner] >= 0));
	unsigned count = read_answers(peers[index], &answer);
	FUZZ_CHECK(count <= 1);
	if (h.connections[index] < 0)
		FUZZ_CHECK(count == 0);
	if (owner != index && count == 1 && answer.type != WIRE_HELLO && answer.type != WIRE_ATTACH)
		FUZZ_CHECK(answer.status == -EPERM);
	if (owner != index)
		FUZZ_CHECK(resized + signalled == before && h.ending == ending);
	/* A connection that lost the session is told and closed. */
	if (owner >= 0 && owner != h.owner && owner != index)
		FUZZ_CHECK(read_answers(peers[owner], &answer) == 1 && answer.type == WIRE_TAKEN &&
			h.connections[owner] < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int peers[PEERS];
	prepare(peers);
	while (size >= 2) {
		uint8_t form = data[0];
		size_t length = data[1];
		data += 2;
		size -= 2;
		length = length < size ? length : size;
		one_packet(peers, form, data, length);
		data += length;
		size -= length;
	}
	serve_answer_end(&h, (int)size);
	finish(peers);
	return 0;
}
