/* No state. If saving fails, the old document stays. */
#include "shell/store/document.h"

#include "shell/json_read.h"
#include "shell/store/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int save(int dir_fd, const char *name, json_t *root,
	int (*put)(int dir_fd, const char *name, const char *text, size_t length))
{
	char *text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;
	json_decref(root);
	if (!text)
		return -ENOMEM;
	int rc = put(dir_fd, name, text, strlen(text));
	free(text);
	return rc;
}

int document_save(int dir_fd, const char *name, json_t *root)
{
	return save(dir_fd, name, root, file_save);
}

int document_save_durably(int dir_fd, const char *name, json_t *root)
{
	return save(dir_fd, name, root, file_save_durably);
}

int document_load(int dir_fd, const char *name, size_t max, json_t **ret_root)
{
	char *text;
	size_t length;
	int rc = file_load(dir_fd, name, max, &text, &length);
	if (rc < 0)
		return rc;
	bool is_short;
	json_t *root = json_read(text, length, JSON_REJECT_DUPLICATES, &is_short);
	free(text);
	if (!root)
		return is_short ? -ENOMEM : -EBADMSG;
	*ret_root = root;
	return 0;
}
