/* The page's files, built into the program (web/embed_page.mjs generates the table). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* One encoding of a file; data is NULL if there is none. */
struct asset_body {
	const unsigned char *data;
	size_t length;
};

/* One file. */
struct asset {
	const char *path; /* "/index.html" */
	const char *content_type;
	const char *etag; /* quoted */
	bool immutable;   /* its name has a hash of its content */
	struct asset_body plain, gzip, brotli;
};

/* All files. */
extern const struct asset assets[];

/* Number of files. */
extern const size_t assets_count;

/* The asset at path ("/" is "/index.html"), or NULL. */
const struct asset *asset_find(const char *path);

/*
 * Choose an encoding for an Accept-Encoding header ("" if there was none).
 * *ret_encoding: "br", "gzip" or NULL.
 */
const struct asset_body *asset_choose_encoding(
	const struct asset *a, const char *accept, const char **ret_encoding);
