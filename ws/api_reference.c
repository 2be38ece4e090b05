/* What the API is: its reference, and what of the container's protocol is not served yet. */
#include "ws/api.h"

void api_commands(struct api *a, struct request *r)
{
	(void)a;
	reply_error(r, "NOT_IMPLEMENTED", "This is not served yet", NULL);
}

void api_openapi(struct api *a, struct request *r)
{
	(void)a;
	reply_error(r, "NOT_IMPLEMENTED", "This is not served yet", NULL);
}

void api_later(struct api *a, struct request *r)
{
	(void)a;
	reply_error(r, "NOT_IMPLEMENTED", "This is not served yet", NULL);
}
