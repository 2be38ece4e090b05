/* The age of ended processes in process.json. */
#include "shell/clock.h"
#include "shell/process/internal.h"
#include "tests/lib/folder_test.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define HOUR_MS 3600000

TestSuite(process_meta, FOLDER_SUITE);

/* process.json, whose end has this time since boot; NULL: none, as in files of earlier servers. */
static void put_meta(uint64_t ended_ms, const int64_t *boot_ms)
{
	char text[512], boot[48] = "";
	if (boot_ms)
		snprintf(boot, sizeof boot, "\"boot\":%" PRId64 ",", *boot_ms);
	snprintf(text, sizeof text,
		"{\"id\":\"a\",\"session\":\"\",\"command\":\"x\",\"commandCut\":false,\"cwd\":\"/\","
		"\"createdAt\":1,\"createdBoot\":1,\"timeoutMs\":0,\"pid\":2,\"flags\":{\"inputPipe\":false,"
		"\"inputClosed\":false,\"timedOut\":false,\"killAsked\":false},"
		"\"end\":{\"at\":%" PRIu64 ",%s\"status\":0,\"error\":0,\"offset\":0}}",
		ended_ms, boot);
	folder_put(&folder, "process.json", text);
}

/* The age of the process in process.json. */
static uint64_t load_age(uint64_t ended_ms, const int64_t *boot_ms)
{
	struct process p = {0};
	put_meta(ended_ms, boot_ms);
	cr_assert_eq(process_meta_load(folder.fd, &p), 0);
	free(p.command);
	free(p.cwd);
	return clock_age_ms(p.ended_boot_ms);
}

Test(process_meta, age_is_read_back_or_computed_from_the_wall_clock)
{
	uint64_t ended_ms = clock_wall_ms() - HOUR_MS;
	int64_t boot = (int64_t)clock_boot_ms() - 5 * HOUR_MS;
	cr_expect_geq(load_age(ended_ms, &boot), 5 * HOUR_MS);
	cr_expect_lt(load_age(ended_ms, &boot), 6 * HOUR_MS);
	const int64_t refused[] = {boot + 10 * HOUR_MS, INT64_MAX, INT64_MIN + 1};
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		cr_expect_geq(load_age(ended_ms, &refused[i]), HOUR_MS);
		cr_expect_lt(load_age(ended_ms, &refused[i]), 2 * HOUR_MS);
	}
	cr_expect_geq(load_age(ended_ms, NULL), HOUR_MS);
	cr_expect_lt(load_age(ended_ms, NULL), 2 * HOUR_MS);
	cr_expect_eq(load_age(INT64_MAX, NULL), 0);
}
