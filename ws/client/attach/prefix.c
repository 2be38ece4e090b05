/* The keys are those of tmux if it has them. */
#include "ws/client/attach/prefix.h"

#include <string.h>

#define ESCAPE '\033'

static const struct {
	const char *keys;
	enum prefix_action action;
	const char *words;
} bindings[] = {
	{"d", PREFIX_DETACH, "d      detach"},
	{"n)", PREFIX_NEXT, "n )    the next session"},
	{"p(", PREFIX_PREVIOUS, "p (    the previous session"},
	{"sw", PREFIX_CHOOSE, "s w    choose one from a list"},
	{"c", PREFIX_CREATE, "c      a new session"},
	{"x&", PREFIX_KILL, "x &    end this session"},
	{"[", PREFIX_SCROLL, "[      scroll in the history; q goes back"},
	{"/", PREFIX_SEARCH, "/      search the history"},
	{"t", PREFIX_STATUS, "t      switch the status line on or off"},
	{"?", PREFIX_HELP, "?      this list"},
};

#define BINDINGS (sizeof bindings / sizeof *bindings)

enum prefix_action prefix_action(int prefix, int key)
{
	if (key == prefix)
		return PREFIX_ITSELF;
	if (key == ESCAPE)
		return PREFIX_NONE;
	for (size_t i = 0; i < BINDINGS; i++)
		if (key > ' ' && key < 0x7f && strchr(bindings[i].keys, key))
			return bindings[i].action;
	return PREFIX_UNKNOWN;
}

const char *prefix_help(size_t line)
{
	return line < BINDINGS ? bindings[line].words : NULL;
}
