/*
 * Errors of our own. A function that fails returns either a negative errno, with the meaning that errno(3) gives it, or
 * one of these, negated. They are greater than every errno.
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
 * Translate the result of a request to a holder (pty/link.h). -ENOTCONN becomes -ERR_NOT_RUNNING. -EAGAIN means that the
 * holder's queue is full, and becomes -ERR_UNRESPONSIVE.
 */
int error_of_holder(int rc);

/* A text for people. error: a negative errno, or an error of our own, negated. */
const char *error_text(int error);
