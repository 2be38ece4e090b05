#include "ws/metrics.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static struct sessions sessions;

/* The value of a metric, or -1. */
static long long value_of(const char *page, const char *name)
{
	char line[100];
	snprintf(line, sizeof line, "\nringside_%s ", name);
	const char *at = strstr(page, line);
	return at ? atoll(at + strlen(line)) : -1;
}

Test(metrics_format, shows_the_counters)
{
	struct metrics m = {.http_requests = 7, .clients = 3, .bytes_sent = UINT64_C(1) << 40};
	sessions.counters.created = 5;
	char *page = metrics_format(&m, &sessions);
	cr_assert_eq(value_of(page, "http_requests_total"), 7);
	cr_assert_eq(value_of(page, "clients"), 3);
	cr_assert_eq(value_of(page, "bytes_sent_total"), 1LL << 40);
	cr_assert_eq(value_of(page, "sessions_created_total"), 5);
	cr_assert_eq(value_of(page, "sessions"), 0);
	free(page);
}

Test(metrics_format, is_prometheus_text)
{
	struct metrics m = {0};
	char *page = metrics_format(&m, &sessions);
	unsigned lines = 0;
	for (char *line = strtok(page, "\n"); line; line = strtok(NULL, "\n"), lines++) {
		if (lines % 3 == 0)
			cr_expect_eq(strncmp(line, "# HELP ringside_", 16), 0, "%s", line);
		else if (lines % 3 == 1)
			cr_expect(strncmp(line, "# TYPE ringside_", 16) == 0 &&
					(strstr(line, " counter") || strstr(line, " gauge")),
				"%s", line);
		else
			cr_expect(strncmp(line, "ringside_", 9) == 0 &&
					isdigit(line[strlen(line) - 1]),
				"%s", line);
	}
	cr_assert_eq(lines % 3, 0);
	cr_assert_gt(lines, 60);
	free(page);
}
