/* Config files: the words found lie within the text; written and parsed again, they are the same. */
#include "tests/fuzz/fuzz.h"
#include "ws/client/config/config_text.h"

static void check_inside(const char *word, const char *text, size_t length)
{
	FUZZ_CHECK(!word || (word >= text && word + strlen(word) <= text + length));
}

/* Written and parsed again, it must be the same. */
static void check_again(const struct config_text *t)
{
	static struct config_text again;
	char *text;
	size_t length;
	FILE *f = open_memstream(&text, &length);
	FUZZ_CHECK(f);
	for (size_t i = 0; i < t->count; i++) {
		const struct config_setting *s = &t->settings[i];
		if (*s->section)
			fprintf(f, "[%s]\n", s->section);
		fprintf(f, "%s%s%s\n", s->name, s->value ? "=" : "", s->value ? s->value : "");
	}
	fclose(f);
	if (length <= CONFIG_TEXT_MAX) {
		FUZZ_CHECK(config_text_parse(text, length, &again) == 0);
		FUZZ_CHECK(again.count == t->count);
		for (size_t i = 0; i < t->count; i++) {
			const struct config_setting *a = &t->settings[i], *b = &again.settings[i];
			FUZZ_CHECK(strcmp(a->section, b->section) == 0);
			FUZZ_CHECK(strcmp(a->name, b->name) == 0);
			FUZZ_CHECK(!a->value == !b->value);
			FUZZ_CHECK(!a->value || strcmp(a->value, b->value) == 0);
		}
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct config_text t;
	char *text = fuzz_copy(data, size);
	int rc = config_text_parse(text, size, &t);
	FUZZ_CHECK(t.count <= CONFIG_SETTINGS_MAX);
	FUZZ_CHECK(rc == 0 || (t.why && t.line > 0 && t.count == 0));
	for (size_t i = 0; i < t.count; i++) {
		const struct config_setting *s = &t.settings[i];
		FUZZ_CHECK(s->line > 0 && *s->name && (!s->value || *s->value));
		FUZZ_CHECK(i == 0 || s->line > t.settings[i - 1].line);
		check_inside(s->name, text, size);
		check_inside(s->value, text, size);
		if (*s->section)
			check_inside(s->section, text, size);
	}
	if (rc == 0)
		check_again(&t);
	free(text);
	return 0;
}
