/* The error page, in the colours of web/src/styles/tokens.css, light and dark. */
#include "ws/error_page.h"
#include "shell/memory_stream.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char head[] =
	"<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>Ringside</title><style>"
	":root{color-scheme:light dark;--back:#efeadf;--card:#fffdf8;--line:#ddd5c5;--text:#26282e;--muted:#686354;--accent:#a94a06}"
	"@media(prefers-color-scheme:dark){:root{--back:#0a0c0f;--card:#1c2128;--line:#262c35;--text:#e4e1d8;--muted:#949aa6;"
	"--accent:#f2b84b}}"
	"body{margin:0;min-height:100vh;display:grid;place-items:center;background:var(--back);color:var(--text);"
	"font:16px/1.5 system-ui,sans-serif}main{max-width:34rem;margin:1rem;padding:1.5rem 2rem;border:1px solid var(--line);"
	"border-radius:12px;background:var(--card)}h1{font-size:1.3rem;margin:0 0 .5rem}p{margin:.5rem 0;overflow-wrap:anywhere}"
	"small{color:var(--muted)}a{color:var(--accent)}</style></head><body><main>";

/* What the user can do, in HTML. */
static const struct {
	const char *code, *hint;
} hints[] = {
	{"HOST_NOT_ALLOWED",
		"The name in the address bar is not a name of this server, so another site may have led you here. "
		"Open it as <code>localhost</code>, or start it with <code>--allow-host</code> and that name."},
	{"UNAUTHENTICATED",
		"Open the address that the server printed when it started, or <a href=\"/\">sign in</a>."},
};

static const char *hint_for(const char *code)
{
	for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
		if (strcmp(hints[i].code, code) == 0)
			return hints[i].hint;
	return "<a href=\"/\">To the sessions</a>";
}

static void put_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		const char *as = *text == '<' ? "&lt;"
			: *text == '>'        ? "&gt;"
			: *text == '&'        ? "&amp;"
			: *text == '"'        ? "&quot;"
					      : NULL;
		if (as)
			fputs(as, out);
		else
			fputc(*text, out);
	}
}

char *error_page(int status, const char *code, const char *message)
{
	char *text = NULL;
	size_t length;
	FILE *out = memory_stream(&text, &length);
	if (!out)
		return NULL;
	fputs(head, out);
	fputs("<h1>", out);
	put_text(out, message);
	fprintf(out, "</h1><p>%s</p><p><small>%d ", hint_for(code), status);
	put_text(out, code);
	fputs("</small></p></main></body></html>\n", out);
	fclose(out);
	return text;
}
