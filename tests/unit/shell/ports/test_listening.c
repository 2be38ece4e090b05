#include "shell/ports/listening.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define HEAD \
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
#define TAIL " 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 "

static struct listening l;

static void add(const char *text, bool v6)
{
	listening_add(&l, text, strlen(text), v6);
}

Test(listening_add, ports_on_loopback_and_all_addresses, .timeout = 10)
{
	add(HEAD "   0: 0100007F:1F90" TAIL "111 1 0000000000000000 100 0 0 10 0\n"
		 "   1: 00000000:1770" TAIL "112 1\n"
		 "   2: 3500007F:0035" TAIL "113 1\n" /* 127.0.0.53 */
		 "   3: 0A00A8C0:1F91" TAIL "114 1\n" /* 192.168.0.10 */
		 "   4: 0100007F:1F92 0100007F:1F90 01 00000000:00000000 00:00000000 00000000 1000 0 115 1\n",
		false);
	cr_assert_eq(l.count, 2);
	cr_assert_eq(l.ports[0].port, 6000);
	cr_assert_eq(l.ports[1].port, 8080);
	cr_assert(l.ports[1].v4 && !l.ports[1].v6);
	cr_assert_eq(l.ports[1].inodes[0], 111);
	add(HEAD
		"   0: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 116 1\n"
		"   1: 00000000000000000000000000000000:1771 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 117 1\n"
		"   2: 0000000000000000FFFF00000100007F:1772 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 118 1\n"
		"   3: B80D0120000000000000000001000000:1773 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 119 1\n",
		true);
	cr_assert_eq(l.count, 4);
	cr_assert(l.ports[3].port == 8080 && l.ports[3].v4 && l.ports[3].v6);
	cr_assert_eq(l.ports[3].inodes_count, 2);
	cr_assert(l.ports[1].port == 6001 && l.ports[1].v4 && l.ports[1].v6);
	cr_assert(l.ports[2].port == 6002 && l.ports[2].v4 && !l.ports[2].v6);
}

Test(listening_add, invalid_lines_are_ignored, .timeout = 10)
{
	static const char *const lines[] = {"", "\n", "0: 0100007F:1F90",
		"0: 0100007F:1F90" TAIL "1", /* no line end */
		"0: 0100007F:1F90" TAIL "\n", "0: 0100007F:1F90" TAIL "x\n",
		"0: 0100007F:0000" TAIL "1\n", "x: 0100007F:1F90" TAIL "1\n",
		"0: 0100007G:1F90" TAIL "1\n", "0: 0100007F:1F9" TAIL "1\n",
		"0: 0100007F:1F90 00000000:0000 0A\n",
		"0: 0100007F:1F90" TAIL "99999999999999999999999\n"};
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		add(lines[i], false);
	cr_assert_eq(l.count, 0);
}

Test(listening_add, number_is_limited, .timeout = 10)
{
	char line[160];
	for (unsigned port = 2 * LISTENING_MAX; port > 0; port--) {
		snprintf(line, sizeof line, "0: 0100007F:%04X" TAIL "%u 1\n", port, port);
		add(line, false);
	}
	cr_assert_eq(l.count, LISTENING_MAX);
	cr_assert(l.truncated);
	for (size_t i = 1; i < l.count; i++)
		cr_assert_lt(l.ports[i - 1].port, l.ports[i].port);
	for (unsigned i = 0; i < 2 * LISTENING_SOCKETS; i++)
		add("0: 0100007F:0800" TAIL "1 1\n", false);
	cr_assert_eq(l.ports[LISTENING_MAX - 1].inodes_count, LISTENING_SOCKETS);
}

Test(listening_is_same, compares_all_ports, .timeout = 10)
{
	static struct listening other;
	cr_assert(listening_is_same(&l, &other));
	add("0: 0100007F:1F90" TAIL "1 1\n", false);
	cr_assert_not(listening_is_same(&l, &other));
	other = l;
	cr_assert(listening_is_same(&l, &other));
	other.ports[0].inodes[0]++;
	cr_assert_not(listening_is_same(&l, &other));
}
