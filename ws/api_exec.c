/* Commands in the shell of a session. */
#include "ws/api.h"

void api_exec_start(struct api *a, struct request *r, struct session *s)
{
	(void)a;
	(void)s;
	reply_error(r, "NOT_IMPLEMENTED", "This is not served yet", NULL);
}

void api_exec_list(struct api *a, struct request *r, struct session *s)
{
	(void)a;
	(void)s;
	reply_error(r, "NOT_IMPLEMENTED", "This is not served yet", NULL);
}

void api_exec_show(struct api *a, struct request *r, struct session *s)
{
	(void)a;
	(void)s;
	reply_error(r, "NOT_IMPLEMENTED", "This is not served yet", NULL);
}

void api_exec_output(struct api *a, struct request *r, struct session *s)
{
	(void)a;
	(void)s;
	reply_error(r, "NOT_IMPLEMENTED", "This is not served yet", NULL);
}

void api_exec_stream(struct api *a, struct request *r, struct session *s)
{
	(void)a;
	(void)s;
	reply_error(r, "NOT_IMPLEMENTED", "This is not served yet", NULL);
}

void api_exec_cancel(struct api *a, struct request *r, struct session *s)
{
	(void)a;
	(void)s;
	reply_error(r, "NOT_IMPLEMENTED", "This is not served yet", NULL);
}
