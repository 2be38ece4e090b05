/* An address is drawn in a box, "|  https://words.trycloudflare.com  |", which is a message like any other. */
#include "shell/tunnel/cloudflared.h"
#include "shell/json_read.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text of a line's message, or its error: a new reference, or NULL. */
static json_t *text_of(const char *line, const char *name)
{
	json_t *object = json_read(line, strlen(line), 0, NULL);
	json_t *text = json_incref(json_object_get(object, name));
	json_decref(object);
	if (json_is_string(text))
		return text;
	json_decref(text);
	return NULL;
}

bool cloudflared_url(const char *line, char ret_url[CLOUDFLARED_URL_SIZE])
{
	static const char scheme[] = "https://", domain[] = ".trycloudflare.com";
	json_t *text = text_of(line, "message");
	const char *at = text ? strstr(json_string_value(text), scheme) : NULL;
	bool found = false;
	for (; at && !found; at = strstr(at + 1, scheme)) {
		const char *host = at + sizeof scheme - 1;
		size_t name = strspn(host, "abcdefghijklmnopqrstuvwxyz0123456789-");
		size_t whole = sizeof scheme - 1 + name + sizeof domain - 1;
		const char *rest = host + name;
		/* Of those who give addresses away it is that itself: it stands in errors. */
		bool own = name == 3 && strncmp(host, "api", 3) == 0;
		found = name > 0 && !own && whole < CLOUDFLARED_URL_SIZE &&
			strncmp(rest, domain, sizeof domain - 1) == 0 &&
			!strchr(".-:@/", rest[sizeof domain - 1] ? rest[sizeof domain - 1] : ' ');
		if (found)
			snprintf(ret_url, CLOUDFLARED_URL_SIZE, "%.*s", (int)whole, at);
	}
	json_decref(text);
	return found;
}

unsigned cloudflared_metrics(const char *line)
{
	static const char start[] = "Starting metrics server on 127.0.0.1:";
	json_t *text = text_of(line, "message");
	const char *said = json_string_value(text);
	unsigned long port = 0;
	if (said && strncmp(said, start, sizeof start - 1) == 0)
		port = strtoul(said + sizeof start - 1, NULL, 10);
	json_decref(text);
	return port <= 65535 ? (unsigned)port : 0;
}

bool cloudflared_error(const char *line, char *ret_text, size_t size)
{
	json_t *level = text_of(line, "level"), *error = text_of(line, "error"),
	       *message = text_of(line, "message");
	const char *name = json_string_value(level);
	bool wrong = name && (strcmp(name, "error") == 0 || strcmp(name, "fatal") == 0);
	const char *text = error ? json_string_value(error) : json_string_value(message);
	wrong = wrong && text && *text;
	if (wrong)
		snprintf(ret_text, size, "%s", text);
	json_decref(level);
	json_decref(error);
	json_decref(message);
	return wrong;
}
