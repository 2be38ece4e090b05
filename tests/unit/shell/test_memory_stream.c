#include "shell/memory_stream.h"

#include "tests/lib/shortage.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(memory_stream, .timeout = 60);

Test(memory_stream, has_the_bytes_that_were_written)
{
	char *text;
	size_t length;
	FILE *f = memory_stream(&text, &length);
	cr_assert(f);
	cr_assert_eq(fclose(f), 0);
	cr_expect_str_eq(text, "");
	free(text);
	f = memory_stream(&text, &length);
	for (int i = 0; i < 10000; i++)
		fprintf(f, "%d,", i);
	fflush(f);
	cr_expect_eq(length, 48890);
	putc('\0', f);
	cr_assert_eq(fclose(f), 0);
	cr_expect_eq(length, 48891);
	cr_expect_eq(strlen(text), 48890);
	cr_expect_str_eq(text + 48885, "9999,");
	free(text);
}

/* All of the text, or nothing. */
Test(memory_stream, is_complete_or_fails)
{
	for (size_t n = 0;; n++) {
		char *text = NULL;
		size_t length = 1;
		shortage_after(n);
		FILE *f = memory_stream(&text, &length);
		for (int i = 0; f && i < 5000; i++)
			fputs("0123456789", f);
		int rc = f ? fclose(f) : EOF;
		size_t refused = shortage_over();
		cr_assert_eq(rc == 0, text != NULL, "%zu", n);
		cr_assert_eq(length, rc == 0 ? 50000 : 0, "%zu", n);
		free(text);
		if (refused == 0) {
			cr_assert_eq(rc, 0);
			break;
		}
		cr_assert_eq(rc, EOF, "%zu", n);
		cr_assert_lt(n, 100);
	}
}
