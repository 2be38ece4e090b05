/*
 * The table of differences between libvterm 0.1.4 and xterm.js, which our screen follows. If no rule applies to a
 * piece, both terminals must have the same text and cursor after it. A rule names the section of xterm's ctlseqs that
 * decides, if there is one.
 */
#pragma once

#include "second.h"
#include "cutter.h"

#include "ring/screen/screen_internal.h"

/* How the second terminal continues after the piece. */
enum rule_then {
	RULE_FOLLOWS,       /* only the cursor or a pending wrap may differ, and is corrected */
	RULE_MAY_DIFFER,    /* the text may differ too: then it is painted anew */
	RULE_STARTS_AFRESH, /* the text must be equal, hidden state is not: it is painted anew */
	RULE_TAKES_OURS,    /* it lacks the feature: it is painted anew */
};

struct rule {
	const char *name;
	const char *section; /* section of ctlseqs, or "-" */
	const char *explanation;
	/* s: our screen before the piece */
	bool (*applies)(const struct screen *s, const struct piece *t);
	/* What the second terminal gets instead; NULL: the piece itself. */
	void (*instead)(struct second *v, const struct screen *s, const struct piece *t);
	enum rule_then then;
	const char *example; /* differs without the rule; in 20 columns and 6 rows, after \x1c in 15 columns */
};

extern const struct rule rules[];
extern const unsigned rules_count;
