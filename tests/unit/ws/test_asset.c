#include "ws/asset.h"

#include <criterion/criterion.h>
#include <string.h>

static const unsigned char plain[] = "p", gzip[] = "g", brotli[] = "b";
static const struct asset all = {
	.path = "/x", .plain = {plain, 1}, .gzip = {gzip, 1}, .brotli = {brotli, 1}};
static const struct asset only_plain = {.path = "/x", .plain = {plain, 1}};

Test(asset_choose_encoding, table)
{
	static const struct {
		const char *accept, *want; /* NULL: no encoding */
	} cases[] = {
		{"", NULL},
		{"br", "br"},
		{"gzip", "gzip"},
		{"gzip, deflate, br", "br"},
		{"GZIP", "gzip"},
		{"br;q=0, gzip", "gzip"},
		{"br; q=0.000, gzip;q=0.1", "gzip"},
		{"br;q=0,gzip;q=0", NULL},
		{"br;q=0.001", "br"},
		{"identity", NULL},
		{"xbr", NULL},
		{"gzipx, x-gzip", NULL},
		{" \t gzip \t", "gzip"},
		{",,,br,,", "br"},
		{";", NULL},
		{"identity;q=1, br", "br"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *encoding = "?";
		const struct asset_body *body = asset_choose_encoding(
			&all, cases[i].accept, &encoding);
		const char *got = encoding ? encoding : "plain",
			   *want = cases[i].want ? cases[i].want : "plain";
		cr_expect_str_eq(got, want, "%s: %s", cases[i].accept, got);
		cr_expect_eq(body->data[0], want[0]);
	}
}

Test(asset_choose_encoding, only_existing_encodings)
{
	const char *encoding = "?";
	cr_assert_eq(asset_choose_encoding(&only_plain, "br, gzip", &encoding), &only_plain.plain);
	cr_assert_null(encoding);
}

Test(asset_find, page_is_built_in)
{
	const struct asset *index = asset_find("/");
	cr_assert_not_null(index);
	cr_assert_str_eq(index->path, "/index.html");
	cr_assert_eq(asset_find("/index.html"), index);
	cr_assert_gt(index->plain.length, 0);
	cr_assert_eq(strncmp(index->content_type, "text/html", 9), 0);
	cr_assert_not(index->immutable);
}

Test(asset_find, other_paths_are_not_found)
{
	static const char *const cases[] = {"", "/nothing", "index.html", "/index.htm",
		"/INDEX.HTML", "//", "/../index.html", "/index.html/"};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_null(asset_find(cases[i]), "%s", cases[i]);
}

Test(asset_find, every_asset_is_found_and_complete)
{
	for (size_t i = 0; i < assets_count; i++) {
		cr_expect_eq(asset_find(assets[i].path), &assets[i]);
		cr_expect_eq(assets[i].etag[0], '"');
		cr_expect_eq(assets[i].etag[strlen(assets[i].etag) - 1], '"');
		cr_expect_not_null(assets[i].plain.data);
		cr_expect(!assets[i].gzip.data || assets[i].gzip.length < assets[i].plain.length);
	}
}
