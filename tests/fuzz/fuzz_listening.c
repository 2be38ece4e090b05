/* The kernel's table of sockets: within limits, sorted, and the same as a whole and in two parts that end with a line. */
#include "shell/ports/listening.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct listening whole, parts;
	if (size < 1 || size > 65536)
		return 0;
	bool v6 = data[0] & 1;
	const char *text = (const char *)data + 1;
	size_t length = size - 1, split = length / 2;
	memset(&whole, 0, sizeof whole);
	memset(&parts, 0, sizeof parts);
	listening_add(&whole, text, length, v6);
	FUZZ_CHECK(whole.count <= LISTENING_MAX);
	for (size_t i = 0; i < whole.count; i++) {
		const struct listening_port *p = &whole.ports[i];
		FUZZ_CHECK(i == 0 || whole.ports[i - 1].port < p->port);
		FUZZ_CHECK(p->inodes_count > 0 && p->inodes_count <= LISTENING_SOCKETS);
		FUZZ_CHECK(p->v4 || p->v6);
	}
	while (split > 0 && text[split - 1] != '\n')
		split--;
	listening_add(&parts, text, split, v6);
	listening_add(&parts, text + split, length - split, v6);
	FUZZ_CHECK(listening_is_same(&whole, &parts));
	return 0;
}
