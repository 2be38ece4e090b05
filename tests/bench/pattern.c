#include "pattern.h"

#include "process.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ESC "\033"
#define CSI "\033["

static const struct pattern patterns[] = {
	{"text", "", "The quick brown fox jumps over the lazy dog, and then once more.\r\n"},
	{"newlines", "", "\n"},
	{"newlines red", CSI "41m", "\n"},
	{"wide", "", "\xe4\xbd\xa0"},
	{"zalgo", "", "\xcc\x81"},
	{"zalgo after text", "x", "x\xcc\x81\xcc\x82\xcc\x83"},
	{"rep 99999", "", "x" CSI "99999b"},
	{"rep 99999 chain", "x", CSI "99999b"},
	{"rep 99999 wide", "", "\xe4\xbd\xa0" CSI "99999b"},
	{"rep 99999 cluster", "", "e\xcc\x81" CSI "99999b"},
	{"rep 999", "", "x" CSI "999b"},
	{"rep in a region", CSI "2;9r", "x" CSI "99999b"},
	{"rep no wrap", CSI "?7l", "x" CSI "99999b"},
	{"rep insert", CSI "4h", "x" CSI "99999b"},
	{"rep insert wide", CSI "4h", "\xe4\xbd\xa0" CSI "99999b"},
	{"rep alternate", CSI "?1049h", "x" CSI "99999b"},
	{"insert text", CSI "4h", "abcdefgh\r"},
	{"insert full", CSI "4h", "a\r"},
	{"ich", "x", CSI "H" CSI "99999@"},
	{"ich 1", "x" CSI "99999bx", CSI "H" CSI "@"},
	{"dch", "x", CSI "99999P"},
	{"dch 1", "x" CSI "99999b" CSI "H", CSI "P"},
	{"ech red", CSI "41m", CSI "99999X"},
	{"il", "", CSI "99999L"},
	{"il red", CSI "41m", CSI "99999L"},
	{"il 500 red", CSI "41m", CSI "500L"},
	{"dl", "", CSI "99999M"},
	{"dl 500", "", CSI "500M"},
	{"su", "", CSI "99999S"},
	{"su red", CSI "41m", CSI "99999S"},
	{"su 500", "", CSI "500S"},
	{"sd", "", CSI "99999T"},
	{"sd 1", "", CSI "T"},
	{"sl", "x" CSI "99999bx", CSI "99999 @"},
	{"sr 1", "x" CSI "99999bx", CSI "1 A"},
	{"decdc", "x" CSI "99999bx", CSI "'~"},
	{"ri", CSI "H", ESC "M"},
	{"ri red", CSI "H" CSI "41m", ESC "M"},
	{"ed 2", "", CSI "2J"},
	{"ed 2 red", CSI "41m", CSI "2J"},
	{"ed 2 full", "", "x" CSI "99999b" CSI "2J"},
	{"ed 2 two colours", "", CSI "41;2J" CSI "41m" CSI "2J" CSI "42m" CSI "2J"},
	{"ed 3", "", "\n" CSI "3J"},
	{"decsed", CSI "1\"q" ESC "#8", CSI "?2J"},
	{"el red", CSI "41m", CSI "2K"},
	{"decaln", "", ESC "#8"},
	{"ris", "", ESC "c"},
	{"alternate", "", CSI "?1049h" CSI "?1049l"},
	{"alternate red", CSI "41m", CSI "?47h" CSI "?47l"},
	{"tabs", "", ESC "H" CSI "g" CSI "99999I" CSI "99999Z"},
	{"cht alone", CSI "3g", CSI "I" CSI "Z"},
	{"tbc 3", "", CSI "3g"},
	{"margins", "", CSI "2;9r" CSI "r"},
	{"styles", "", CSI "38;2;%mx"},
	{"styles red", "", CSI "48;2;%m" CSI "K" CSI "7m" CSI "48;5;1m"},
	{"styles in place", "", "\r" CSI "38;2;%mx"},
	{"styles unseen", "", CSI "38;2;%m" CSI "K"},
	{"links", "", ESC "]8;;http://%\ax"},
	{"links in place", "", "\r" ESC "]8;;http://%\ax"},
	{"links with id", "", ESC "]8;id=a%;b\ax"},
	{"titles", "", ESC "]0;title\a" CSI "22;0t"},
	{"titles back", "", CSI "22;0t" CSI "23;0t"},
	{"palette", "", ESC "]104\a"},
	{"palette set", "", ESC "]4;1;#123456\a"},
	{"kitty", "", CSI ">1u" CSI "<99999u"},
	{"decscusr", "", CSI "1 q"},
	{"many modes", "", CSI "?6;6;6;6;6;6;6;6;6;6;6;6;6;6;6;6h"},
	{"many flips", "", CSI "?47;1047;1049;47h" CSI "?47;1047;1049;47l"},
};

#define PATTERNS (sizeof patterns / sizeof *patterns)

const struct pattern *pattern_at(size_t i)
{
	return i < PATTERNS ? &patterns[i] : NULL;
}

const struct pattern *pattern_find(const char *name)
{
	for (size_t i = 0; i < PATTERNS; i++)
		if (strcmp(patterns[i].name, name) == 0)
			return &patterns[i];
	errno = 0;
	die(name);
}

size_t pattern_make(const struct pattern *p, char *bytes, size_t length)
{
	size_t n = 0;
	for (unsigned i = 0; n < length; i++)
		for (const char *at = p->again; *at; at++)
			if (*at == '%')
				n += (size_t)sprintf(bytes + n, "%u;%u;%u", i >> 16 & 255,
					i >> 8 & 255, i & 255);
			else
				bytes[n++] = *at;
	return n;
}
