/* Processes: commands with a life of their own. */
#include "ws/api.h"

void api_process_start(struct api *a, struct request *r)
{
	(void)a;
	reply_error(r, "NOT_IMPLEMENTED", "This is not served yet", NULL);
}

void api_process_list(struct api *a, struct request *r)
{
	(void)a;
	reply_error(r, "NOT_IMPLEMENTED", "This is not served yet", NULL);
}

void api_process_kill_all(struct api *a, struct request *r)
{
	(void)a;
	reply_error(r, "NOT_IMPLEMENTED", "This is not served yet", NULL);
}

void api_process_show(struct api *a, struct request *r)
{
	(void)a;
	reply_error(r, "NOT_IMPLEMENTED", "This is not served yet", NULL);
}

void api_process_kill(struct api *a, struct request *r)
{
	(void)a;
	reply_error(r, "NOT_IMPLEMENTED", "This is not served yet", NULL);
}

void api_process_logs(struct api *a, struct request *r)
{
	(void)a;
	reply_error(r, "NOT_IMPLEMENTED", "This is not served yet", NULL);
}

void api_process_stream(struct api *a, struct request *r)
{
	(void)a;
	reply_error(r, "NOT_IMPLEMENTED", "This is not served yet", NULL);
}

void api_process_output(struct api *a, struct request *r)
{
	(void)a;
	reply_error(r, "NOT_IMPLEMENTED", "This is not served yet", NULL);
}

void api_process_input(struct api *a, struct request *r)
{
	(void)a;
	reply_error(r, "NOT_IMPLEMENTED", "This is not served yet", NULL);
}

void api_process_signal(struct api *a, struct request *r)
{
	(void)a;
	reply_error(r, "NOT_IMPLEMENTED", "This is not served yet", NULL);
}

void api_process_wait(struct api *a, struct request *r)
{
	(void)a;
	reply_error(r, "NOT_IMPLEMENTED", "This is not served yet", NULL);
}
