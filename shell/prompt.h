/* Identifies a hidden prompt of a session, one without echo, as for a password. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* What the session's state was when the prompt was seen: session_prompt_is_open() compares it with the present one. */
struct prompt_id {
	uint64_t offset, answers; /* end of the output, count of answers */
	pid_t group;              /* foreground process group */
};
