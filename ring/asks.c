/* Tables after xterm's ctlseqs and the keyboard protocol of kitty. */
#include "ring/asks.h"

bool asks_csi(const struct tokenizer *t, uint32_t first)
{
	uint8_t prefix = t->prefix, inter = t->intermediate;
	switch (t->code) {
	case 'c': /* DA1, DA2, DA3 */
		return inter == 0 && prefix != '?' && prefix != '<';
	case 'n': /* DSR, CPR; with '>' it sets modifyOtherKeys */
		return inter == 0 && prefix != '>';
	case 'p': /* DECRQM */
	case 'w': /* DECRQPSR */
		return inter == '$';
	case 'q': /* XTVERSION */
		return prefix == '>';
	case 'u': /* kitty keyboard flags; DECRQUPSS; DECRQTSR */
		return prefix == '?' || inter == '&' || inter == '$';
	case 't': /* XTWINOPS reports */
		return inter == 0 && prefix == 0 && first >= 11 && first <= 21 && first != 12 &&
			first != 17;
	case 'x': /* DECREQTPARM */
		return inter == 0 && first <= 1;
	case 'y': /* DECRQCRA */
		return inter == '*';
	case '|': /* XTREPORTSGR; DECRQLP */
		return inter == '#' || inter == '\'';
	case 'R': /* XTREPORTCOLORS */
		return inter == '#';
	case 'S': /* XTSMGRAPHICS */
	case 'm': /* XTQMODKEYS */
	case 'g': /* XTQFMTKEYS */
		return prefix == '?';
	default:
		return false;
	}
}

bool asks_osc(uint32_t number)
{
	switch (number) {
	case 4:  /* palette */
	case 5:  /* special colours */
	case 21: /* kitty colours */
	case 22: /* pointer shape */
	case 50: /* font */
	case 52: /* clipboard */
	case 60: /* allowed features */
	case 61:
	case ASKS_OSC_NAMED: /* iTerm2 */
		return true;
	default: /* dynamic colours */
		return (number >= 10 && number <= 19) || asks_osc_always(number);
	}
}

bool asks_osc_always(uint32_t number)
{
	switch (number) {
	case 99:   /* notifications of kitty, which tell what has become of them */
	case 176:  /* app id */
	case 5522: /* clipboard of kitty */
		return true;
	default:
		return false;
	}
}

bool asks_name(uint8_t *names, unsigned at, uint8_t c)
{
	/* ReportCellSize, ReportVariable=…; RequestUpload=…; Capabilities */
	static const char *const all[] = {"Report", "RequestUpload", "Capabilities"};
	_Static_assert((1u << sizeof all / sizeof *all) - 1 == ASKS_NAMES, "a bit for each");
	for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
		if (!(*names & 1u << i))
			continue;
		if ((uint8_t)all[i][at] != c)
			*names &= (uint8_t) ~(1u << i);
		else if (all[i][at + 1] == '\0')
			return true;
	}
	return false;
}
