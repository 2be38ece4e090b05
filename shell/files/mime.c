/* libmagic's cookie is not thread-safe, so a lock guards it. It is never freed. */
#include "shell/files/mime.h"

#include <magic.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct known {
	const char *extension, *type;
};

/* Sorted by extension. Files with other extensions (py, go, lock, env, ipynb ...) are examined by content. */
static const struct known known[] = {
	{"7z", "application/x-7z-compressed"},
	{"aac", "audio/aac"},
	{"avi", "video/x-msvideo"},
	{"avif", "image/avif"},
	{"bmp", "image/bmp"},
	{"bz2", "application/x-bzip2"},
	{"c", "text/x-c"},
	{"cc", "text/x-c"},
	{"cjs", "text/javascript"},
	{"conf", "text/plain"},
	{"cpp", "text/x-c"},
	{"css", "text/css"},
	{"csv", "text/csv"},
	{"doc", "application/msword"},
	{"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
	{"epub", "application/epub+zip"},
	{"gif", "image/gif"},
	{"gz", "application/gzip"},
	{"h", "text/x-c"},
	{"htm", "text/html"},
	{"html", "text/html"},
	{"ico", "image/vnd.microsoft.icon"},
	{"ics", "text/calendar"},
	{"ini", "text/plain"},
	{"jar", "application/java-archive"},
	{"java", "text/x-java-source"},
	{"jpeg", "image/jpeg"},
	{"jpg", "image/jpeg"},
	{"js", "text/javascript"},
	{"json", "application/json"},
	{"jsonld", "application/ld+json"},
	{"jsx", "text/javascript"},
	{"log", "text/plain"},
	{"m4a", "audio/mp4"},
	{"map", "application/json"},
	{"markdown", "text/markdown"},
	{"md", "text/markdown"},
	{"mjs", "text/javascript"},
	{"mkv", "video/x-matroska"},
	{"mov", "video/quicktime"},
	{"mp3", "audio/mpeg"},
	{"mp4", "video/mp4"},
	{"odt", "application/vnd.oasis.opendocument.text"},
	{"ogg", "audio/ogg"},
	{"otf", "font/otf"},
	{"pdf", "application/pdf"},
	{"png", "image/png"},
	{"ppt", "application/vnd.ms-powerpoint"},
	{"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
	{"rar", "application/vnd.rar"},
	{"rtf", "text/rtf"},
	{"sh", "application/x-sh"},
	{"sql", "application/sql"}, /* RFC 6922, text; application/x-sql would be binary */
	{"svg", "image/svg+xml"},
	{"tar", "application/x-tar"},
	{"text", "text/plain"},
	{"tif", "image/tiff"},
	{"tiff", "image/tiff"},
	{"toml", "application/toml"},
	{"ts", "text/javascript"},
	{"tsv", "text/tab-separated-values"},
	{"tsx", "text/javascript"},
	{"ttf", "font/ttf"},
	{"txt", "text/plain"},
	{"wasm", "application/wasm"},
	{"wav", "audio/wav"},
	{"webm", "video/webm"},
	{"webp", "image/webp"},
	{"woff", "font/woff"},
	{"woff2", "font/woff2"},
	{"xhtml", "application/xhtml+xml"},
	{"xls", "application/vnd.ms-excel"},
	{"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
	{"xml", "application/xml"},
	{"xz", "application/x-xz"},
	{"yaml", "text/yaml"},
	{"yml", "text/yaml"},
	{"zip", "application/zip"},
	{"zst", "application/zstd"},
};

/* Text types other than text/..., ...+json and ...+xml. */
static const char *const texts[] = {"application/ecmascript", "application/javascript",
	"application/json", "application/json-seq", "application/rtf", "application/sql",
	"application/toml", "application/typescript", "application/x-empty",
	"application/x-httpd-php", "application/x-javascript", "application/x-sh",
	"application/x-shellscript", "application/x-typescript", "application/x-yaml",
	"application/xml", "application/xml-dtd", "application/xml-external-parsed-entity",
	"application/yaml", "inode/x-empty"};

static int compare(const void *extension, const void *row)
{
	return strcmp(extension, ((const struct known *)row)->extension);
}

const char *mime_of_name(const char *path)
{
	const char *name = strrchr(path, '/');
	const char *dot = strrchr(name ? name : path, '.');
	if (!dot)
		return NULL;
	const struct known *found = bsearch(
		dot + 1, known, sizeof known / sizeof *known, sizeof *known, compare);
	return found ? found->type : NULL;
}

void mime_of_bytes(const void *bytes, size_t length, char ret_type[MIME_SIZE])
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static magic_t cookie; /* guarded by lock; loading the tables is slow */
	const char *type = NULL;
	if (length == 0) {
		snprintf(ret_type, MIME_SIZE, "inode/x-empty");
		return;
	}
	pthread_mutex_lock(&lock);
	if (!cookie && (cookie = magic_open(MAGIC_MIME_TYPE)) && magic_load(cookie, NULL) < 0) {
		magic_close(cookie);
		cookie = NULL;
	}
	if (cookie)
		type = magic_buffer(
			cookie, bytes, length < MIME_SNIFF_MAX ? length : MIME_SNIFF_MAX);
	snprintf(ret_type, MIME_SIZE, "%s", type ? type : "application/octet-stream");
	pthread_mutex_unlock(&lock);
}

static bool ends_in(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);
	return length >= tail && strcmp(text + length - tail, end) == 0;
}

bool mime_is_text(const char *type)
{
	if (strncmp(type, "text/", 5) == 0 || ends_in(type, "+json") || ends_in(type, "+xml"))
		return true;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (strcmp(type, texts[i]) == 0)
			return true;
	return false;
}
