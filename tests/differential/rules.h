/*
 * The table of what libvterm 0.1.4 does otherwise than xterm.js, and so than we. A piece to which no rule applies has to leave
 * both with the same text and the same cursor. Where one does, it says why: which section of xterm's ctlseqs decides, or that
 * none does.
 */
#pragma once

#include "second.h"
#include "cutter.h"

#include "ring/screen/screen_internal.h"

/* What becomes of the second terminal, once both have had the piece. */
enum rule_then {
	RULE_FOLLOWS, /* only the cursor, or that a wrap is pending, may differ, and is brought into line */
	RULE_MAY_DIFFER, /* if the text does as well, it is painted anew */
	RULE_STARTS_AFRESH, /* the text must be the same, what is not seen is not: it is painted anew */
	RULE_TAKES_OURS, /* it has nothing like it: it is painted anew */
};

struct rule {
	const char *name;
	const char *section; /* of ctlseqs, or "-" */
	const char *says;
	/* s: our screen before the piece */
	bool (*applies)(const struct screen *s, const struct piece *t);
	/* What the second terminal gets instead of the piece; NULL: the piece as it is. */
	void (*instead)(struct second *v, const struct screen *s, const struct piece *t);
	enum rule_then then;
	const char *example; /* in 20 columns, 6 rows, and behind \x1c in 15: without the rule they differ there */
};

extern const struct rule rules[];
extern const unsigned rules_count;
