#include "shell/own_error.h"

#include <errno.h>
#include <string.h>

static const struct {
	int error;
	const char *text;
} texts[] = {
#define OWN_ERROR_TEXT(name, text) {-ERR_##name, text},
	OWN_ERRORS(OWN_ERROR_TEXT)
#undef OWN_ERROR_TEXT
	/* Errors of the kernel whose text from strerror(3) says too little. */
	{-ENOSPC, "the disk is full"},
	{-EDQUOT, "the disk quota is used up"},
	{-EMFILE, "the server is out of file descriptors: raise its limit (ulimit -n, LimitNOFILE)"},
	{-ENFILE, "the system's limit of open files is reached (fs.file-max)"},
	{-EAGAIN, "the limit of processes is reached"},
	{-ENOMEM, "there is not enough memory"},
};

int error_of_holder(int rc)
{
	return rc == -ENOTCONN ? -ERR_NOT_RUNNING : rc == -EAGAIN ? -ERR_UNRESPONSIVE : rc;
}

const char *error_text(int error)
{
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (texts[i].error == error)
			return texts[i].text;
	return strerror(-error);
}
