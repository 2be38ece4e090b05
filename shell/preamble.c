/* See preamble.h. */
#include "shell/preamble.h"
#include "shell/memory_stream.h"
#include "shell/quote.h"

#include <stdio.h>

/* Unset what the session does not export, except its identity, and the pagers, which would wait for a key. */
static const char clear[] =
	"for __rs_v in $(compgen -e); do case $__rs_v in RINGSIDE_*|PAGER|GIT_PAGER) ;; "
	"*) unset -v \"$__rs_v\" ;; esac; done 2>/dev/null; unset -v __rs_v\n";

char *preamble_text(const struct preamble *b, size_t *ret_length)
{
	char *text = NULL;
	FILE *f = memory_stream(&text, ret_length);
	if (!f)
		return NULL;
	if (b->length > 0) {
		fputs(clear, f);
		fwrite(b->text, 1, b->length, f);
		putc('\n', f);
	}
	for (size_t i = 0; i < b->env_count; i++) {
		fprintf(f, "export %s=", b->env_names[i]);
		quote_put(f, b->env_values[i]);
		putc('\n', f);
	}
	fclose(f);
	return text;
}
