#include "ws/error_page.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

Test(error_page, has_the_message_and_the_hint)
{
	char *page = error_page(403, "HOST_NOT_ALLOWED", "This host is not allowed", "/");
	cr_assert(strstr(page, "<h1>This host is not allowed</h1>"));
	cr_assert(strstr(page, "--allow-host"));
	cr_assert(strstr(page, "403 HOST_NOT_ALLOWED"));
	cr_assert_not(strstr(page, "href"), "no address of this host would work");
	free(page);
}

Test(error_page, has_the_link)
{
	char *page = error_page(404, "UNKNOWN_ERROR", "Not found", "/");
	cr_assert(strstr(page, "<a href=\"/\">To the sessions</a>"));
	free(page);
	page = error_page(404, "UNKNOWN_ERROR", "Not found", "https://x/\"><b>");
	cr_assert(strstr(page,
		"<a href=\"https://x/&quot;&gt;&lt;b&gt;\">https://x/&quot;&gt;&lt;b&gt;</a>"));
	free(page);
	page = error_page(404, "UNKNOWN_ERROR", "Not found", NULL);
	cr_assert_not(strstr(page, "href"));
	free(page);
}

Test(error_page, text_is_escaped)
{
	char *page = error_page(500, "A<b>", "<script>alert(\"x\")</script> & more", NULL);
	cr_assert_not(strstr(page, "<script"));
	cr_assert(strstr(page, "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; more"));
	cr_assert(strstr(page, "A&lt;b&gt;"));
	free(page);
}
