/* Waiting for a port to be served. */
#include "ws/api.h"

void api_port_watch(struct api *a, struct request *r)
{
	(void)a;
	reply_error(r, "NOT_IMPLEMENTED", "This is not served yet", NULL);
}
