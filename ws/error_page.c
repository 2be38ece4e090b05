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

/* What the user can do, in HTML; "" if nothing is known. label: of the link, if there is one; NULL: no link helps. */
static const struct hint {
	const char *code, *text, *label;
} hints[] = {
	{"HOST_NOT_ALLOWED",
		"The name in the address bar is not a name of this server, so another site may have led you here. "
		"Open it as <code>localhost</code>, or start it with <code>--allow-host</code> and that name.",
		NULL},
	{"UNAUTHENTICATED", "Open the address that the server printed when it started, or sign in.",
		"Sign in"},
	{"REQUEST_TOO_LARGE",
		"The address is too long, or this site has too many cookies in your browser: delete them.",
		"To the sessions"},
	{"UPGRADE_REQUIRED", "Programs connect to this address; there is nothing to see.",
		"To the sessions"},
	{"TLS_REQUIRED", "Open the same address with <code>https</code>.", "To the sessions"},
	{"SERVER_BUSY", "Close other pages of this server, or reload this one in a moment.", NULL},
	{"REQUEST_TIMEOUT",
		"Reload this page. If that does not help, the network is slow or a proxy holds the request back.",
		NULL},
	{"PORT_NOT_LISTENING", "Start the program that serves it, then reload this page.", NULL},
};

static struct hint hint_for(const char *code)
{
	for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
		if (strcmp(hints[i].code, code) == 0)
			return hints[i];
	return (struct hint){code, "", "To the sessions"};
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

static void put_link(FILE *out, const char *link, const char *label)
{
	fputs("<p><a href=\"", out);
	put_text(out, link);
	fputs("\">", out);
	put_text(out, strcmp(link, "/") == 0 ? label : link);
	fputs("</a></p>", out);
}

char *error_page(int status, const char *code, const char *message, const char *link)
{
	char *text = NULL;
	size_t length;
	struct hint hint = hint_for(code);
	FILE *out = memory_stream(&text, &length);
	if (!out)
		return NULL;
	fputs(head, out);
	fputs("<h1>", out);
	put_text(out, message);
	fprintf(out, "</h1><p>%s</p>", hint.text);
	if (link && hint.label)
		put_link(out, link, hint.label);
	fprintf(out, "<p><small>%d ", status);
	put_text(out, code);
	fputs("</small></p></main></body></html>\n", out);
	fclose(out);
	return text;
}
