#include "shell/files/mime.h"

#include <criterion/criterion.h>
#include <string.h>

Test(mime_of_name, extension_in_any_case)
{
	static const struct {
		const char *path, *type;
	} cases[] = {{"a.ts", "text/javascript"}, {"/x/y.z/a.md", "text/markdown"},
		{"a.tsx", "text/javascript"}, {"a.mjs", "text/javascript"}, {"a.yaml", "text/yaml"},
		{"a.yml", "text/yaml"}, {"a.csv", "text/csv"}, {"a.log", "text/plain"},
		{"a.rtf", "text/rtf"}, {"a.svg", "image/svg+xml"}, {"a.xml", "application/xml"},
		{"a.toml", "application/toml"}, {"a.sh", "application/x-sh"}, {"a.c", "text/x-c"},
		{"a.sql", "application/sql"}, {"a.tar.gz", "application/gzip"},
		{".json", "application/json"}, {"a.7z", "application/x-7z-compressed"},
		{"a.zst", "application/zstd"}, {"a.TXT", NULL}, {"a", NULL}, {"", NULL},
		{"a.", NULL}, {"dir.md/a", NULL}, {"a.py", NULL}, {"a.txtx", NULL}, {"/", NULL}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *type = mime_of_name(cases[i].path);
		cr_expect_str_eq(type ? type : "none", cases[i].type ? cases[i].type : "none", "%s",
			cases[i].path);
	}
}

Test(mime_of_bytes, content)
{
	static const struct {
		const char *bytes, *type;
	} cases[] = {{"", "inode/x-empty"}, {"words of text\n", "text/plain"},
		{"%PDF-1.4\n", "application/pdf"}, {"GIF89a\1\1", "image/gif"},
		{"#!/bin/sh\necho\n", "text/x-shellscript"}};
	char type[MIME_SIZE];
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		mime_of_bytes(cases[i].bytes, strlen(cases[i].bytes), type);
		cr_expect_str_eq(type, cases[i].type, "%zu", i);
	}
	mime_of_bytes("\0\1\2\3\377\376\375", 7, type);
	cr_assert_str_eq(type, "application/octet-stream");
}

Test(mime_is_text, text_types)
{
	static const char *const texts[] = {"text/x-c", "image/svg+xml", "application/ld+json",
		"application/json", "application/x-sh", "inode/x-empty", "application/sql"};
	static const char *const others[] = {"image/png", "application/pdf", "application/jsonx",
		"textual/plain", "", "application/x-sql", "xml", "+jso"};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		cr_expect(mime_is_text(texts[i]), "%s", texts[i]);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		cr_expect_not(mime_is_text(others[i]), "%s", others[i]);
}
