/*
 * Full-screen programs that wait for keys need no attention: editors and pagers always do. A
 * program counts as waiting only if the server is certain.
 */
#include "ws/client/draw/attention.h"

#include <stdio.h>
#include <string.h>

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));
	return text ? text : "";
}

static enum attention describe(
	enum attention attention, char words[ATTENTION_WORDS_MAX], const char *text)
{
	snprintf(words, ATTENTION_WORDS_MAX, "%s", text);
	return attention;
}

static enum attention describe_end(const json_t *session, char words[ATTENTION_WORDS_MAX])
{
	const json_t *exit = json_object_get(session, "exit"), *code = json_object_get(exit, "code");
	const char *signal = text_of(exit, "signal");
	if (*signal)
		snprintf(words, ATTENTION_WORDS_MAX, "ended by %s", signal);
	else if (json_is_integer(code))
		snprintf(words, ATTENTION_WORDS_MAX, "ended: %d", (int)json_integer_value(code));
	else
		snprintf(words, ATTENTION_WORDS_MAX, "ended");
	return ATTENTION_ENDED;
}

static enum attention describe_state(const json_t *state, char words[ATTENTION_WORDS_MAX])
{
	const char *status = text_of(state, "status"), *input = text_of(state, "input");
	const char *name = text_of(json_object_get(state, "foreground"), "name");
	bool certain = json_is_true(json_object_get(state, "certain"));
	if (strcmp(input, "password") == 0)
		return describe(ATTENTION_INPUT, words, "waits for a password");
	if (strcmp(status, "waiting_input") == 0 && certain) {
		snprintf(words, ATTENTION_WORDS_MAX, "%.40s waits for input", *name ? name : "it");
		return ATTENTION_INPUT;
	}
	if (strcmp(status, "stopped") == 0)
		return describe(ATTENTION_STUCK, words, "stopped");
	if (strcmp(status, "prompt") == 0)
		return describe(ATTENTION_IDLE, words, "at its prompt");
	snprintf(words, ATTENTION_WORDS_MAX, "%.40s", *name ? name : status);
	return ATTENTION_RUNS;
}

enum attention attention_of(
	const json_t *session, const json_t *state, bool called, char words[ATTENTION_WORDS_MAX])
{
	const char *life = text_of(session, "state");
	if (strcmp(life, "exited") == 0 || strcmp(life, "deleting") == 0)
		return describe_end(session, words);
	if (strcmp(life, "unresponsive") == 0)
		return describe(ATTENTION_STUCK, words, "does not answer");
	enum attention attention = state ? describe_state(state, words)
					 : describe(ATTENTION_IDLE, words, life);
	return called && attention > ATTENTION_CALLED ? ATTENTION_CALLED : attention;
}
