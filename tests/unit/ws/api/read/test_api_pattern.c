/* Requests with a pattern, while memory is short: the C library gives them no locale. */
#include "tests/lib/memory_api.h"

#include <dlfcn.h>
#include <locale.h>

TestSuite(api_pattern, .init = memory_api_open, .fini = memory_api_close, .timeout = 60);

static bool is_short;

/* Called in place of that of the C library. */
locale_t newlocale(int mask, const char *name, locale_t base)
{
	union {
		void *symbol;
		locale_t (*call)(int mask, const char *name, locale_t base);
	} real = {.symbol = dlsym(RTLD_NEXT, "newlocale")};
	return is_short ? (locale_t)0 : real.call(mask, name, base);
}

static void expect_memory_is_short(const char *line, const char *body)
{
	is_short = true;
	struct call *c = memory_api_call(line, body);
	is_short = false;
	call_expect(c, 500, "OUT_OF_MEMORY");
}

Test(api_pattern, session_wait_reports_short_memory)
{
	memory_api_start("s");
	expect_memory_is_short("POST /api/session/s/wait",
		"{'until':[{'type':'match','pattern':'a'}],'timeoutMs':0}");
}

Test(api_pattern, search_reports_short_memory)
{
	memory_api_start("s");
	expect_memory_is_short("GET /api/session/s/search?q=a", NULL);
}

Test(api_pattern, process_wait_reports_short_memory)
{
	struct call *c = memory_api_begin(
		"POST /api/process/start", "{'command':'x','processId':'p'}");
	memory_holder_record(memory_api_process_holder("p"), "p 2147483600\n");
	call_expect(c, 200, "");
	expect_memory_is_short("POST /api/process/p/wait", "{'for':'log','pattern':'a'}");
	struct call *wrong = memory_api_call(
		"POST /api/process/p/wait", "{'for':'log','regex':'('}");
	cr_expect_eq(call_status(wrong), 400);
	cr_expect_str_eq(call_text(wrong, "context.validationErrors.0.message"),
		"The regex cannot be used: ( without )");
}
