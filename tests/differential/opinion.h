/*
 * Both terminals, fed the same: after each piece they are compared, and what differs has a rule or is a finding. Then the second
 * one is painted anew, with our snapshot.
 */
#pragma once

#include "compare.h"
#include "rules.h"

struct opinion {
	struct screen *s;
	struct second *v;
	struct cutter cutter;
	uint64_t seen;       /* version of our screen that was compared */
	const char *without; /* name of a rule that does not hold, or NULL */
	bool painting;       /* a snapshot is being taken: findings are not told */
	bool stopped;        /* there is a finding */
	unsigned long pieces, compared, painted, unlike; /* unlike: snapshots that did not suffice */
	unsigned long *used;                             /* of each rule, how often; borrowed */
};

/* Begin with an empty screen. used: for rules_count numbers. */
void opinion_init(struct opinion *o, unsigned rows, unsigned cols, unsigned long *used);
void opinion_finish(struct opinion *o);

/*
 * Take output, from between two sequences on. A finding is printed, and ends it. Returns bytes taken: what is unfinished is to come
 * again, with more.
 */
size_t opinion_feed(struct opinion *o, const uint8_t *bytes, size_t length);

void opinion_resize(struct opinion *o, unsigned rows, unsigned cols);
