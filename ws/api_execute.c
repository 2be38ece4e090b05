/* Commands as the Sandbox container's protocol runs them: in a session's shell, or on their own. */
#include "ws/api.h"

void api_execute(struct api *a, struct request *r)
{
	(void)a;
	reply_error(r, "NOT_IMPLEMENTED", "This is not served yet", NULL);
}

void api_execute_stream(struct api *a, struct request *r)
{
	(void)a;
	reply_error(r, "NOT_IMPLEMENTED", "This is not served yet", NULL);
}
