/*
 * Feeds both terminals the same and compares them after each piece: a difference without a rule is a finding. Then
 * paints the second terminal anew, from our snapshot.
 */
#pragma once

#include "compare.h"
#include "rules.h"

struct opinion {
	struct screen *s;
	struct second *v;
	struct cutter cutter;
	uint64_t seen;       /* version of our screen at the last comparison */
	const char *without; /* name of the disabled rule, or NULL */
	bool painting;       /* a snapshot is fed: findings are not printed */
	bool stopped;        /* after a finding */
	unsigned long pieces, compared, painted, unlike; /* unlike: snapshots drawn differently */
	unsigned long *used;                             /* uses of each rule; borrowed */
};

/* Begin with an empty screen. used: rules_count counters. */
void opinion_init(struct opinion *o, unsigned rows, unsigned cols, unsigned long *used);
void opinion_finish(struct opinion *o);

/*
 * Feed output that begins between two sequences. A finding is printed and ends the comparison. Returns the bytes
 * consumed: pass the rest again, with further bytes.
 */
size_t opinion_feed(struct opinion *o, const uint8_t *bytes, size_t length);

void opinion_resize(struct opinion *o, unsigned rows, unsigned cols);
