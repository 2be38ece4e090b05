/* See listening.h. Format: proc(5), "N: ADDRESS:PORT ADDRESS:PORT STATE … UID TIMEOUT INODE …". */
#include "shell/ports/listening.h"

#include "ring/hex.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#define STATE_LISTEN 10u       /* TCP_LISTEN */
#define FIELDS_BEFORE_INODE 5u /* after the state: queues, timer, retransmissions, user, timeout */

struct line {
	const char *at, *end;
};

/* Parse count hexadecimal digits. */
static bool parse_hex(struct line *l, unsigned count, uint32_t *ret_value)
{
	uint32_t value = 0;
	for (unsigned i = 0; i < count; i++, l->at++) {
		int digit = l->at < l->end ? hex_value(*l->at) : -1;
		if (digit < 0)
			return false;
		value = value << 4 | (uint32_t)digit;
	}
	*ret_value = value;
	return true;
}

static bool parse_char(struct line *l, char c)
{
	if (l->at == l->end || *l->at != c)
		return false;
	l->at++;
	return true;
}

static bool skip_field(struct line *l)
{
	const char *from = l->at;
	while (l->at < l->end && *l->at != ' ')
		l->at++;
	bool any = l->at > from;
	while (l->at < l->end && *l->at == ' ')
		l->at++;
	return any;
}

static bool parse_number(struct line *l, uint64_t *ret_value)
{
	const char *from = l->at;
	uint64_t value = 0;
	for (; l->at < l->end && *l->at >= '0' && *l->at <= '9'; l->at++) {
		if (value > (UINT64_MAX - 9) / 10)
			return false;
		value = value * 10 + (uint64_t)(*l->at - '0');
	}
	*ret_value = value;
	return l->at > from;
}

/* word: as in the kernel's memory, in network byte order. */
static bool is_local4(uint32_t word)
{
	return word == htonl(INADDR_ANY) || word == htonl(INADDR_LOOPBACK);
}

static bool parse_address(struct line *l, bool v6, bool *ret_local4, bool *ret_local6)
{
	struct in6_addr a;
	uint32_t words[4];
	for (unsigned i = 0; i < (v6 ? 4u : 1u); i++)
		if (!parse_hex(l, 8, &words[i]))
			return false;
	*ret_local4 = !v6 && is_local4(words[0]);
	*ret_local6 = false;
	if (!v6)
		return true;
	memcpy(&a, words, sizeof a);
	bool any = IN6_IS_ADDR_UNSPECIFIED(&a);
	*ret_local6 = any || IN6_IS_ADDR_LOOPBACK(&a);
	/* "::" also accepts IPv4, except with IPV6_V6ONLY, which /proc does not show. */
	*ret_local4 = any || (IN6_IS_ADDR_V4MAPPED(&a) && is_local4(words[3]));
	return true;
}

/* Find or add a port. Returns NULL if there are too many. */
static struct listening_port *find_port(struct listening *l, uint16_t port)
{
	size_t i = 0;
	while (i < l->count && l->ports[i].port < port)
		i++;
	if (i < l->count && l->ports[i].port == port)
		return &l->ports[i];
	if (l->count == LISTENING_MAX) {
		l->truncated = true;
		return NULL;
	}
	memmove(&l->ports[i + 1], &l->ports[i], (l->count - i) * sizeof *l->ports);
	l->count++;
	l->ports[i] = (struct listening_port){.port = port};
	return &l->ports[i];
}

static void add_line(struct listening *all, struct line l, bool v6)
{
	uint32_t port, state;
	uint64_t number;
	bool local4, local6;
	while (parse_char(&l, ' '))
		;
	if (!parse_number(&l, &number) || !parse_char(&l, ':') || !parse_char(&l, ' ') ||
		!parse_address(&l, v6, &local4, &local6) || !parse_char(&l, ':') ||
		!parse_hex(&l, 4, &port) || !parse_char(&l, ' ') || !skip_field(&l) ||
		!parse_hex(&l, 2, &state) || state != STATE_LISTEN || !parse_char(&l, ' '))
		return;
	for (unsigned i = 0; i < FIELDS_BEFORE_INODE; i++)
		if (!skip_field(&l))
			return;
	if (!parse_number(&l, &number) || port == 0 || !(local4 || local6))
		return;
	struct listening_port *p = find_port(all, (uint16_t)port);
	if (!p)
		return;
	p->v4 |= local4;
	p->v6 |= local6;
	if (p->inodes_count < LISTENING_SOCKETS)
		p->inodes[p->inodes_count++] = number;
}

void listening_add(struct listening *all, const char *text, size_t length, bool v6)
{
	const char *end = text + length;
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		if (!newline)
			return; /* an incomplete line */
		add_line(all, (struct line){text, newline}, v6);
		text = newline + 1;
	}
}

bool listening_is_same(const struct listening *a, const struct listening *b)
{
	if (a->count != b->count || a->truncated != b->truncated)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct listening_port *p = &a->ports[i], *q = &b->ports[i];
		if (p->port != q->port || p->v4 != q->v4 || p->v6 != q->v6 ||
			p->inodes_count != q->inodes_count ||
			memcmp(p->inodes, q->inodes, p->inodes_count * sizeof *p->inodes) != 0)
			return false;
	}
	return true;
}
