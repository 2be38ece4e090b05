/* Packets from a process that pretends to be a holder. */
#include "pty/packet.h"

#include "tests/lib/open_fds.h"
#include "tests/lib/send_fds.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static int our_end, their_end;

static void set_up(void)
{
	int pair[2];
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	our_end = pair[0];
	their_end = pair[1];
}

static void tear_down(void)
{
	close(our_end);
	close(their_end);
}

TestSuite(packet, .init = set_up, .fini = tear_down, .timeout = 20);

static struct wire_message make_message(unsigned version)
{
	return (struct wire_message){
		.magic = WIRE_MAGIC, .version = (uint16_t)version, .type = WIRE_ATTACH};
}

static void send_packet(const void *bytes, size_t length, unsigned count)
{
	send_fds(their_end, bytes, length, our_end, count);
}

/* The packet is refused, and none of its descriptors stays open. */
static void expect_refused(const void *bytes, size_t length, unsigned count)
{
	struct packet p;
	unsigned before = open_fds();
	send_packet(bytes, length, count);
	cr_expect_eq(packet_receive(our_end, &p), -EPROTO);
	cr_expect_eq(p.count, 0);
	cr_expect_eq(open_fds(), before, "%u descriptors", count);
}

Test(packet, message_with_its_descriptors)
{
	struct packet p;
	struct wire_message m = make_message(WIRE_VERSION);
	unsigned before = open_fds();
	cr_assert_eq(packet_receive(our_end, &p), -EAGAIN);
	send_packet(&m, sizeof m, WIRE_FDS);
	cr_assert_eq(packet_receive(our_end, &p), 0);
	cr_assert_eq(p.count, WIRE_FDS);
	cr_expect(fcntl(p.fds[0], F_GETFD) & FD_CLOEXEC);
	packet_close_fds(&p, 2);
	cr_expect_eq(p.count, 2);
	packet_close_fds(&p, 0);
	cr_expect_eq(open_fds(), before);
	close(their_end);
	cr_expect_eq(packet_receive(our_end, &p), -ECONNRESET);
}

Test(packet, truncated_packets_are_refused)
{
	struct wire_message m = make_message(WIRE_VERSION);
	struct {
		struct wire_message m;
		char more[4];
	} longer = {.m = m};
	expect_refused(&m, sizeof m - 1, 0);
	expect_refused(&m, sizeof m - 1, 3);
	expect_refused(&longer, sizeof longer, 0);
	expect_refused(&longer, sizeof longer, WIRE_FDS);
	m.magic ^= 1;
	expect_refused(&m, sizeof m, WIRE_FDS);
}

Test(packet, too_many_descriptors_are_refused_and_closed)
{
	struct wire_message m = make_message(WIRE_VERSION), newer = make_message(WIRE_VERSION + 1);
	expect_refused(&m, sizeof m, WIRE_FDS + 1);
	expect_refused(&m, sizeof m, PACKET_FDS_MAX);
	expect_refused(&m, sizeof m, PACKET_FDS_MAX + 1);
	expect_refused(&newer, sizeof newer, 64);
}

Test(packet, a_newer_holder_may_send_more)
{
	struct packet p;
	struct {
		struct wire_message m;
		char more[100];
	} newer = {.m = make_message(WIRE_VERSION + 1)};
	send_packet(&newer, sizeof newer, WIRE_FDS + 2);
	cr_assert_eq(packet_receive(our_end, &p), 0);
	cr_expect_eq(p.count, WIRE_FDS + 2);
	packet_close_fds(&p, 0);
}
