/* One wait: its beginning, its waiters, its end and its memory. See waits.c for when it is checked. */
#include "shell/wait/internal.h"

#include "shell/own_error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

const char *wait_type_name(enum wait_type type)
{
	static const char *const names[WAIT_TYPES] = {[WAIT_EXEC] = "exec",
		[WAIT_PROMPT] = "prompt",
		[WAIT_INPUT] = "input",
		[WAIT_MATCH] = "match",
		[WAIT_STABLE] = "stable",
		[WAIT_IDLE] = "idle",
		[WAIT_BYTES] = "bytes",
		[WAIT_EXIT] = "exit",
		[WAIT_PORT] = "port",
		[WAIT_LEASE] = "lease"};
	return names[type];
}

/* Memory */

void wait_free_patterns(struct wait *w)
{
	struct waits *h = w->waits;
	for (unsigned i = 0; i < w->count; i++) {
		struct awaited *c = &w->conditions[i];
		if (c->finder)
			finder_finish(c->finder);
		free(c->finder);
		c->finder = NULL;
		if (!c->is.pattern)
			continue;
		pattern_destroy(c->is.pattern);
		c->is.pattern = NULL;
		h->patterns--;
		h->shared->patterns--;
	}
}

static void leave_queue(struct wait *w)
{
	for (unsigned i = 0; i < w->count; i++)
		wait_leave_queue(w->waits, &w->conditions[i]);
}

static void close_ports(struct wait *w)
{
	for (unsigned i = 0; i < w->count; i++) {
		struct awaited *c = &w->conditions[i];
		if (!c->port)
			continue;
		w->waits->ports--;
		port_watch_close(c->port, free, c->port);
		c->port = NULL;
	}
}

void wait_destroy(struct wait *w)
{
	claim_release(&w->claim);
	leave_queue(w);
	wait_free_patterns(w);
	close_ports(w);
	free(w->text);
	free(w);
}

void wait_forget(struct wait *w)
{
	struct waits *h = w->waits;
	if (w->forgotten)
		return;
	if (!w->over)
		h->pending--;
	else if (w->key[0])
		h->kept[wait_is_by_link(w)]--;
	w->forgotten = w->over = true;
	w->key[0] = '\0';
	claim_release(&w->claim);
	leave_queue(w);
	if (h->lent)
		return;
	DL_DELETE(h->all, w);
	wait_destroy(w);
}

/* The end */

void wait_answer_waiters(struct wait *w)
{
	while (w->waiters) {
		struct wait_waiter *waiter = w->waiters;
		DL_DELETE(w->waiters, waiter);
		waiter->wait = NULL;
		waiter->done(waiter->user, &w->result);
	}
}

void wait_settle(struct wait *w)
{
	struct waits *h = w->waits;
	uint64_t lost = 0;
	for (unsigned i = 0; i < w->count; i++)
		if (!w->conditions[i].lent && w->conditions[i].lost > lost)
			lost = w->conditions[i].lost;
	w->result.lost = lost;
	w->result.elapsed_ms = h->now - w->began_ms;
	w->result.text = w->text;
	w->kept_until_ms = h->now + WAIT_KEPT_MS;
	h->pending--;
	h->kept[wait_is_by_link(w)] += w->key[0] != '\0';
	leave_queue(w);
	if (!h->lent)
		wait_free_patterns(w);
	close_ports(w);
	claim_release(&w->claim);
}

/* The beginning */

static const char *link_of(const struct wait_options *o)
{
	return o->claim ? o->claim->key : "";
}

static struct wait *find_key(const struct waits *h, const struct wait_options *o)
{
	struct wait *w;
	uint64_t now = pane_now(h->pane);
	DL_FOREACH (h->all, w)
		if (!w->forgotten && strcmp(w->key, o->key) == 0 &&
			strcmp(w->link, link_of(o)) == 0 && (!w->over || now < w->kept_until_ms))
			return w;
	return NULL;
}

static void join_wait(struct wait *w, struct wait_waiter *waiter)
{
	waiter->wait = w;
	DL_APPEND(w->waiters, waiter);
	if (w->over && w->waits->looking)
		w->waits->due = 0;
	else if (w->over)
		wait_answer_waiters(w);
}

/* Returns 0 or an error of wait_start(). */
static int check_options(const struct waits *h, const struct wait_options *o)
{
	unsigned patterns = 0, ports = 0;
	for (unsigned i = 0; i < o->count; i++) {
		patterns += o->conditions[i].pattern != NULL;
		ports += o->conditions[i].type == WAIT_PORT;
		if (o->conditions[i].type == WAIT_EXEC &&
			!exec_find(h->executor, o->conditions[i].exec))
			return -ENOENT;
	}
	uint64_t end = pane_head(h->pane);
	if ((o->has_from && o->from > end) || (o->has_after && o->after > end))
		return -ERANGE;
	if (h->pending >= WAITS_MAX)
		return -ERR_LIMIT;
	if (h->patterns + patterns > WAIT_PATTERNS_MAX ||
		h->shared->patterns + patterns > WAIT_PATTERNS_TOTAL ||
		h->ports + ports > WAIT_PORTS_MAX)
		return -EMFILE;
	return 0;
}

/* The offset to read from, so that reading does not begin inside an escape sequence. */
static uint64_t safe_start(const struct pane *p, uint64_t from)
{
	const struct glance g = pane_screen_summary(p);
	uint64_t resume = g.exists ? g.resume : from;
	return from == pane_head(p) && resume < from &&
			resume >= stream_oldest(&p->held.link.ring.bytes)
		? resume
		: from;
}

static int copy_conditions(struct wait *w, const struct wait_options *o)
{
	struct waits *h = w->waits;
	uint64_t start = safe_start(h->pane, w->from);
	for (unsigned i = 0; i < o->count; i++) {
		struct awaited *c = &w->conditions[i];
		c->is = o->conditions[i];
		if (c->is.type != WAIT_MATCH || c->is.on_screen)
			continue;
		c->finder = malloc(sizeof *c->finder);
		if (!c->finder)
			return -ENOMEM;
		finder_init(c->finder, c->is.pattern, start, w->from, c->is.needs_line_end);
		w->count = i + 1;
	}
	w->count = o->count;
	return 0;
}

static void on_port(void *user, int status)
{
	(void)status; /* of HTTP, which is not probed */
	waits_check_soon(user);
}

static int open_ports(struct wait *w)
{
	struct waits *h = w->waits;
	for (unsigned i = 0; i < w->count; i++) {
		struct awaited *c = &w->conditions[i];
		const struct probe_options options = {.port = c->is.port};
		if (c->is.type != WAIT_PORT)
			continue;
		c->port = calloc(1, sizeof *c->port);
		if (!c->port)
			return -ENOMEM;
		h->ports++;
		port_watch_start(c->port, h->shared->loop, &options, 0, on_port, h);
	}
	return 0;
}

static int create_wait(struct waits *h, const struct wait_options *o, struct wait **ret_wait)
{
	const struct pane *p = h->pane;
	struct wait *w = calloc(1, sizeof *w);
	if (!w)
		return -ENOMEM;
	w->waits = h;
	w->began_ms = pane_now(p);
	w->deadline_ms = w->began_ms + o->timeout_ms;
	w->from = o->has_from ? o->from : pane_head(p);
	w->has_after = o->has_after;
	w->after = o->after;
	w->fingerprint = o->fingerprint;
	snprintf(w->link, sizeof w->link, "%s", link_of(o));
	memcpy(w->key, o->key ? o->key : "", o->key ? strlen(o->key) : 0);
	if (copy_conditions(w, o) < 0 || open_ports(w) < 0) {
		for (unsigned i = 0; i < w->count; i++)
			free(w->conditions[i].finder);
		close_ports(w);
		free(w);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < w->count; i++)
		if (w->conditions[i].is.pattern) {
			h->patterns++;
			h->shared->patterns++;
		}
	*ret_wait = w;
	return 0;
}

/* The link that began w has lost its access. Other waiters go on; without any, w is forgotten. */
static void on_withdrawn(struct claim *claim)
{
	struct wait *w = claim->of;
	struct waits *h = w->waits;
	if (!w->waiters && !h->looking) {
		wait_forget(w);
		return;
	}
	claim_release(&w->claim);
	if (!w->waiters)
		w->key[0] = '\0';
	waits_check_soon(h);
}

static void set_claim(struct wait *w, struct claim *claim)
{
	w->claim = claim;
	if (!claim)
		return;
	claim->of = w;
	claim->withdraw = on_withdrawn;
}

int wait_start(struct waits *h, const struct wait_options *o, struct wait_waiter *waiter)
{
	struct wait *w = NULL;
	if (o->key && (w = find_key(h, o))) {
		struct claim *claim = o->claim;
		if (w->fingerprint != o->fingerprint)
			return -ERR_KEY_IN_USE;
		for (unsigned i = 0; i < o->count; i++)
			pattern_destroy(o->conditions[i].pattern);
		claim_release(&claim); /* w has one already */
		join_wait(w, waiter);
		return 0;
	}
	int rc = check_options(h, o);
	if (rc == 0)
		rc = create_wait(h, o, &w);
	if (rc < 0)
		return rc;
	if (h->pending == 0)
		h->rows_version = 0; /* the rows were not followed */
	h->sample_next_ms = 0;
	h->prompt_tries = 0;
	DL_APPEND(h->all, w);
	h->pending++;
	set_claim(w, o->claim);
	join_wait(w, waiter);
	if (h->looking)
		waits_check_soon(h);
	else
		waits_look(h);
	return 0;
}

bool wait_get_rest(const struct wait_waiter *waiter, uint64_t *ret_from, uint64_t *ret_left_ms)
{
	const struct wait *w = waiter->wait;
	if (!w || w->over || w->key[0])
		return false;
	uint64_t now = pane_now(w->waits->pane);
	*ret_from = w->from;
	*ret_left_ms = w->deadline_ms > now ? w->deadline_ms - now : 0;
	return true;
}

void wait_leave(struct wait_waiter *waiter)
{
	struct wait *w = waiter->wait;
	if (!w)
		return;
	waiter->wait = NULL;
	DL_DELETE(w->waiters, waiter);
	if (!w->waiters && !w->key[0] && !w->over && !w->waits->looking)
		wait_forget(w);
}
