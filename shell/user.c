/*
 * A program that still runs as root must ignore the variables that a driver may set for a command (LD_PRELOAD and the
 * like), so they are renamed until it has changed to the user.
 */
#include "shell/user.h"
#include "shell/words.h"

#include "pty/enter.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TEXT_SIZE ((size_t)64 << 10) /* bytes of a passwd entry */

static void format_groups(struct user *u, const gid_t *groups, int count)
{
	size_t length = 0;
	for (int i = 0; i < count; i++)
		length += (size_t)snprintf(u->groups + length, sizeof u->groups - length, "%s%u",
			i > 0 ? "," : "", (unsigned)groups[i]);
}

static int find_entry(const char *name, char *text, struct passwd *entry)
{
	struct passwd *found = NULL;
	int rc = -getpwnam_r(name, entry, text, TEXT_SIZE, &found);
	if (rc == 0 && !found)
		rc = -ENOENT;
	if (rc == 0 && (entry->pw_uid == 0 || entry->pw_gid == 0))
		rc = -EPERM;
	return rc;
}

int user_find(const char *name, struct user *ret)
{
	gid_t groups[USER_GROUPS_MAX];
	int count = USER_GROUPS_MAX;
	struct passwd entry;
	struct stat st;
	char *text = malloc(TEXT_SIZE), *home = NULL;
	int rc = text ? find_entry(name, text, &entry) : -ENOMEM;
	if (rc == 0 && strlen(name) >= sizeof ret->name)
		rc = -ENAMETOOLONG;
	if (rc == 0 && getgrouplist(name, entry.pw_gid, groups, &count) < 0)
		rc = -E2BIG;
	for (int i = 0; rc == 0 && i < count; i++)
		rc = groups[i] == 0 ? -EPERM : 0;
	if (rc == 0) {
		bool has_home = stat(entry.pw_dir, &st) == 0 && S_ISDIR(st.st_mode);
		home = strdup(has_home ? entry.pw_dir : "/");
		rc = home ? 0 : -ENOMEM;
	}
	if (rc == 0) {
		*ret = (struct user){.home = home, .uid = entry.pw_uid, .gid = entry.pw_gid};
		snprintf(ret->name, sizeof ret->name, "%s", name);
		snprintf(ret->ids[0], sizeof ret->ids[0], "%u", (unsigned)entry.pw_uid);
		snprintf(ret->ids[1], sizeof ret->ids[1], "%u", (unsigned)entry.pw_gid);
		format_groups(ret, groups, count);
	}
	free(text);
	return rc;
}

void user_finish(struct user *u)
{
	free(u->home);
	u->home = NULL;
}

void user_set_environment(const struct user *u)
{
	static const char *const server_only[] = {"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME",
		"XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "PWD", "TMPDIR"};
	for (size_t i = 0; i < sizeof server_only / sizeof *server_only; i++)
		unsetenv(server_only[i]);
	setenv("HOME", u->home, 1);
	setenv("USER", u->name, 1);
	setenv("LOGNAME", u->name, 1);
	setenv("SHELL", "/bin/bash", 1);
}

void user_words(const struct user *u, const char *ret_words[USER_WORDS])
{
	const char *const words[USER_WORDS] = {
		"--user", u->ids[0], "--gid", u->ids[1], "--groups", u->groups};
	memcpy(ret_words, words, sizeof words);
}

char **user_hide_environment(char *const *environment)
{
	size_t count = 0;
	while (environment[count])
		count++;
	char **hidden = calloc(count + 1, sizeof *hidden);
	for (size_t i = 0; hidden && i < count; i++) {
		size_t size = sizeof ENTER_HIDDEN_PREFIX + strlen(environment[i]);
		hidden[i] = malloc(size);
		if (!hidden[i]) {
			words_free(hidden);
			return NULL;
		}
		snprintf(hidden[i], size, ENTER_HIDDEN_PREFIX "%s", environment[i]);
	}
	return hidden;
}
