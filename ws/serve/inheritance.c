/* Unknown fields are ignored and missing ones are 0, so that releases before and after this one can be executed. */
#include "ws/serve/inheritance.h"

#include "shell/write_all.h"
#include "ws/serve/privacy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)
#define SIZE_MAX_READ ((off_t)1 << 31)

static char *format(const struct inheritance *from)
{
	json_t *json = json_pack("{s:O, s:[i,i], s:s?, s:I, s:I, s:b, s:I}", "net", from->net.json,
		"lock", from->lock.fd, from->lock.name_fd, "token", from->token, "upgrades",
		(json_int_t)from->upgrades, "heldSince", (json_int_t)from->held_since_ms,
		"draining", (int)from->draining, "drained", (json_int_t)from->drained_ms);
	char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
	json_decref(json);
	return text;
}

int inheritance_write(const struct inheritance *from)
{
	char *text = format(from);
	if (!text)
		return -ENOMEM;
	int fd = memfd_create("ringside-inheritance", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int rc = fd < 0 ? -errno : write_all(fd, text, strlen(text) + 1);
	if (rc == 0 && from->net.length > 0)
		rc = write_all(fd, from->net.bytes, from->net.length);
	if (rc == 0 && fcntl(fd, F_ADD_SEALS, SEALS) < 0)
		rc = -errno;
	privacy_wipe(text);
	if (rc < 0 && fd >= 0)
		close(fd);
	return rc < 0 ? rc : fd;
}

/* Parse a descriptor's number. Returns it, or -1. */
static int parse_fd(const char *text)
{
	char *end;
	long fd = strtol(text, &end, 10);
	return *text < '0' || *text > '9' || *end || fd < 3 || fd > INT32_MAX ? -1 : (int)fd;
}

/* Read a whole sealed file. Returns its text, for privacy_wipe(), or NULL. *ret_after: its bytes after the text's NUL. */
static char *read_sealed(int fd, size_t *ret_after)
{
	struct stat st;
	if (fd < 0 || fcntl(fd, F_GET_SEALS) != SEALS || fstat(fd, &st) < 0 ||
		st.st_size > SIZE_MAX_READ)
		return NULL;
	size_t size = (size_t)st.st_size;
	char *text = malloc(size + 1);
	if (text && pread(fd, text, size, 0) == st.st_size) {
		text[size] = '\0';
		*ret_after = strlen(text) < size ? size - strlen(text) - 1 : 0;
		return text;
	}
	free(text);
	return NULL;
}

static uint64_t number(const json_t *json, const char *name)
{
	json_int_t n = json_integer_value(json_object_get(json, name));
	return n > 0 ? (uint64_t)n : 0;
}

static int fd_of(const json_t *json, size_t i)
{
	const json_t *fd = json_array_get(json_object_get(json, "lock"), i);
	return json_is_integer(fd) ? (int)json_integer_value(fd) : -1;
}

/* Copy the bytes of connections. */
static bool copy_bytes(struct takeover *t, const char *bytes, size_t length)
{
	t->bytes = malloc(length + 1);
	if (!t->bytes)
		return false;
	memcpy(t->bytes, bytes, length);
	t->length = t->size = length;
	return true;
}

static int parse(const char *text, size_t after, struct inheritance *ret)
{
	json_t *json = json_loads(text, 0, NULL);
	json_t *net = json_object_get(json, "net");
	const char *token = json_string_value(json_object_get(json, "token"));
	*ret = (struct inheritance){.net.json = json_incref(net),
		.lock = {.fd = fd_of(json, 0), .name_fd = fd_of(json, 1)},
		.token = token ? strdup(token) : NULL,
		.upgrades = number(json, "upgrades"),
		.held_since_ms = number(json, "heldSince"),
		.draining = json_is_true(json_object_get(json, "draining")),
		.drained_ms = number(json, "drained")};
	if (token)
		explicit_bzero((char *)(uintptr_t)token, strlen(token));
	json_decref(json);
	if (json_is_object(ret->net.json) && copy_bytes(&ret->net, text + strlen(text) + 1, after))
		return 1;
	takeover_finish(&ret->net);
	privacy_wipe(ret->token);
	return -EINVAL;
}

int inheritance_read(char **environment, struct inheritance *ret)
{
	char *number_text = privacy_remove_variable(environment, INHERITANCE_VARIABLE);
	if (!number_text)
		return 0;
	int fd = parse_fd(number_text);
	free(number_text);
	size_t after;
	char *text = read_sealed(fd, &after);
	if (!text)
		return -EINVAL;
	close(fd);
	int rc = parse(text, after, ret);
	privacy_wipe(text);
	return rc;
}
