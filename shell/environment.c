/*
 * Tables of variables that are always passed on and never passed on, and the lists built from them. A later value
 * replaces an earlier one of the same name. If memory is short, the list is freed.
 */
#include "shell/environment.h"

#include "shell/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Variables of the server that shells get; '*' at the end matches any suffix. */
static const char *const passed[] = {"HOME", "USER", "LOGNAME", "SHELL", "PATH", "PWD", "LANG",
	"LANGUAGE", "LC_*", "TZ", "TZDIR", "TMPDIR", "EDITOR", "VISUAL", "PAGER", "MANPATH",
	"INFOPATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME",
	"XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS", "XDG_CACHE_HOME", "XDG_STATE_HOME",
	/* for builds with sanitizers or coverage */
	"ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "LLVM_PROFILE_FILE",
	"GCOV_PREFIX", "GCOV_PREFIX_STRIP"};

/* Exceptions from the above, which belong to a terminal. */
static const char *const excluded[] = {"LC_TERMINAL*"};

/* Variables between the server and what started it: never passed on, even if requested. */
static const char *const refused[] = {"RINGSIDE_TOKEN", "NOTIFY_SOCKET", "LISTEN_PID",
	"LISTEN_PIDFDID", "LISTEN_FDS", "LISTEN_FDNAMES", "WATCHDOG_PID", "WATCHDOG_USEC"};

static bool matches(const char *pattern, const char *variable, size_t length)
{
	size_t n = strlen(pattern);
	if (pattern[n - 1] == '*')
		return length >= n - 1 && strncmp(pattern, variable, n - 1) == 0;
	return length == n && strncmp(pattern, variable, n) == 0;
}

static bool is_in(const char *const *patterns, size_t count, const char *variable, size_t length)
{
	for (size_t i = 0; i < count; i++)
		if (matches(patterns[i], variable, length))
			return true;
	return false;
}

#define IS_IN(patterns, variable, length) \
	is_in(patterns, sizeof(patterns) / sizeof *(patterns), variable, length)

bool environment_name_is_valid(const char *name)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
	size_t length = strlen(name);
	return length > 0 && !(name[0] >= '0' && name[0] <= '9') && strspn(name, letters) == length;
}

/* Add name=value, replacing an older value. Returns false if memory is short. */
static bool put(char **list, size_t *used, const char *name, size_t name_length, const char *value)
{
	size_t size = name_length + strlen(value) + 2, i;
	char *entry = malloc(size);
	if (!entry)
		return false;
	snprintf(entry, size, "%.*s=%s", (int)name_length, name, value);
	for (i = 0; i < *used; i++)
		if (strncmp(list[i], entry, name_length + 1) == 0)
			break;
	if (i < *used)
		free(list[i]);
	else
		++*used;
	list[i] = entry;
	return true;
}

/* Length of the name in NAME=VALUE; 0 if there is none. */
static size_t name_length(const char *variable)
{
	const char *equals = strchr(variable, '=');
	return equals ? (size_t)(equals - variable) : 0;
}

/* Returns false when memory is short. */
static bool put_all(char **list, size_t *used, char *const *variables)
{
	for (; *variables; variables++) {
		size_t length = name_length(*variables);
		if (length > 0 && !put(list, used, *variables, length, *variables + length + 1))
			return false;
	}
	return true;
}

static char **allocate(char *const *base, size_t more)
{
	while (*base++)
		more++;
	return calloc(more + 1, sizeof(char *));
}

bool environment_may_request(const char *requested)
{
	char name[ENVIRONMENT_NAME_MAX + 1];
	size_t length = strcspn(requested, "=");
	if (length > ENVIRONMENT_NAME_MAX || IS_IN(refused, requested, length))
		return false;
	snprintf(name, sizeof name, "%.*s", (int)length, requested);
	return environment_name_is_valid(name);
}

/* The value of a variable in base, or NULL. */
static const char *find(char *const *base, const char *name, size_t length)
{
	for (; *base; base++)
		if (strncmp(*base, name, length) == 0 && (*base)[length] == '=')
			return *base + length + 1;
	return NULL;
}

char **environment_inherit(char *const *base, const char *const *requested, size_t count)
{
	size_t used = 0;
	char **list = allocate(base, count);
	if (!list)
		return NULL;
	for (char *const *v = base; *v; v++) {
		size_t length = name_length(*v);
		if (!IS_IN(passed, *v, length) || IS_IN(excluded, *v, length))
			continue;
		if (!put(list, &used, *v, length, *v + length + 1))
			goto err_list;
	}
	for (size_t i = 0; i < count; i++) {
		size_t length = strcspn(requested[i], "=");
		const char *value = requested[i][length] ? requested[i] + length + 1
							 : find(base, requested[i], length);
		if (value && !put(list, &used, requested[i], length, value))
			goto err_list;
	}
	return list;
err_list:
	words_free(list);
	return NULL;
}

/* Whether a variable sets the character encoding, see locale(7). */
static bool has_locale(char *const *list)
{
	return find(list, "LC_ALL", 6) || find(list, "LC_CTYPE", 8) || find(list, "LANG", 4);
}

char **environment_create(
	char *const *base, const char *const *names, const char *const *values, size_t count)
{
	size_t used = 0;
	char **list = allocate(base, count + 3);
	if (!list)
		return NULL;
	if (!put(list, &used, "TERM", 4, "xterm-256color") ||
		!put(list, &used, "COLORTERM", 9, "truecolor") || !put_all(list, &used, base))
		goto err_list;
	for (size_t i = 0; i < count; i++)
		if (!put(list, &used, names[i], strlen(names[i]), values[i]))
			goto err_list;
	if (!has_locale(list) && !put(list, &used, "LANG", 4, "C.UTF-8"))
		goto err_list;
	return list;
err_list:
	words_free(list);
	return NULL;
}

char **environment_with(char *const *base, const char *name, const char *value)
{
	size_t used = 0;
	char **list = allocate(base, 1);
	if (list && put_all(list, &used, base) && put(list, &used, name, strlen(name), value))
		return list;
	words_free(list);
	return NULL;
}
