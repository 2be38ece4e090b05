/*
 * Errors of our own. A function that fails returns a negative errno, which then means what the kernel means by it
 * (errno(3)), or one of these, negated; no errno has such a number.
 */
#pragma once

#define OWN_ERRORS(X)                                                                       \
	X(LIMIT, "a limit of the server is reached")                                        \
	X(DRAINING, "the server is being drained: it starts nothing new")                   \
	X(RUNTIME_REPLACED, "the server's runtime directory has been replaced or removed")  \
	X(UNRESPONSIVE, "its holder does not answer: it is stopped, or waits for the disk") \
	X(NOT_RUNNING, "it does not run")                                                   \
	X(NO_TERMINAL, "the limit of terminals is reached (kernel.pty.max)")                \
	X(SCREEN_BUDGET, "there is not enough memory for a screen of this size")            \
	X(NO_INPUT, "it has no standard input")                                             \
	X(NOT_INSTALLED, "the program is not installed")                                    \
	X(KEY_IN_USE, "the key belongs to another request")                                 \
	X(CHANGED, "the file is not, or no longer, as expected")                            \
	X(FILES_STUCK,                                                                      \
		"a disk does not answer, and the limit of operations that wait for it is reached")

enum own_error {
	OWN_ERROR_BASE = 10000,
#define OWN_ERROR_NAME(name, text) ERR_##name,
	OWN_ERRORS(OWN_ERROR_NAME)
#undef OWN_ERROR_NAME
};

/*
 * What the result of a request to a holder (pty/link.h) is here: -ENOTCONN becomes -ERR_NOT_RUNNING, and -EAGAIN, its queue
 * is full, -ERR_UNRESPONSIVE.
 */
int error_of_holder(int rc);

/* The text of a negative errno or error of our own, for people. */
const char *error_text(int error);
