#include "ws/serve/inheritance.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char variable[64];
static char *environment[] = {variable, NULL};

/* Read what a descriptor refers to. */
static int read_from(const char *text, struct inheritance *ret)
{
	environment[0] = variable;
	snprintf(variable, sizeof variable, INHERITANCE_VARIABLE "=%s", text);
	int rc = inheritance_read(environment, ret);
	cr_expect_null(environment[0], "the variable is removed");
	return rc;
}

/* A file in memory with a text. */
static void make_file(const char *contents, unsigned seals, char text[16])
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, contents, strlen(contents)), (ssize_t)strlen(contents));
	cr_assert_eq(fcntl(fd, F_ADD_SEALS, seals), 0);
	snprintf(text, 16, "%d", fd);
}

Test(inheritance, is_read_as_it_was_written, .timeout = 10)
{
	char token[] = "a token", text[16], bytes[] = {'x', 0, 'y'};
	struct inheritance got,
		from = {.net = {.json = json_pack("{s:[i]}", "sockets", 1),
				.bytes = bytes,
				.length = 3},
			.lock = {.fd = 7, .name_fd = -1},
			.token = token,
			.upgrades = 3,
			.held_since_ms = 1234567890123,
			.draining = true,
			.drained_ms = 5};
	int fd = inheritance_write(&from);
	cr_assert_geq(fd, 0);
	cr_expect_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	cr_expect_lt(write(fd, "x", 1), 0, "it is sealed");
	snprintf(text, sizeof text, "%d", fd);
	cr_assert_eq(read_from(text, &got), 1);
	cr_expect_lt(fcntl(fd, F_GETFD), 0, "it is closed");
	cr_expect(json_equal(got.net.json, from.net.json));
	cr_assert_eq(got.net.length, 3);
	cr_expect_arr_eq(got.net.bytes, bytes, 3);
	cr_expect_str_eq(got.token, token);
	cr_expect_eq(got.lock.fd, 7);
	cr_expect_eq(got.lock.name_fd, -1);
	cr_expect_eq(got.upgrades, 3);
	cr_expect_eq(got.held_since_ms, from.held_since_ms);
	cr_expect(got.draining);
	cr_expect_eq(got.drained_ms, 5);
	free(got.token);
	takeover_finish(&got.net);
	json_decref(from.net.json);
}

Test(inheritance, other_values_are_refused, .timeout = 10)
{
	static const char *const texts[] = {
		"", "x", "-1", "0", "3x", "99999", "99999999999999999999"};
	const unsigned seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	struct inheritance got;
	char text[16];
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		cr_expect_lt(read_from(texts[i], &got), 0, "%s", texts[i]);
	make_file("{\"net\":{}}", 0, text);
	cr_expect_lt(read_from(text, &got), 0, "not sealed");
	make_file("{\"net\":1", seals, text);
	cr_expect_lt(read_from(text, &got), 0, "not JSON");
	make_file("{\"net\":1}", seals, text);
	cr_expect_lt(read_from(text, &got), 0, "no object");
	make_file("", seals, text);
	cr_expect_lt(read_from(text, &got), 0, "empty");
	make_file("{\"net\":{},\"later\":[1]}", seals, text);
	cr_expect_eq(read_from(text, &got), 1, "a later release may write more");
	cr_expect_null(got.token);
	cr_expect_eq(got.lock.fd, -1);
	cr_expect_eq(got.net.length, 0);
	takeover_finish(&got.net);
	environment[0] = NULL;
	cr_expect_eq(inheritance_read(environment, &got), 0);
}
