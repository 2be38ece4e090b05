/* One command in throwaway PTYs. */
#include "ws/api.h"

void api_run(struct api *a, struct request *r)
{
	(void)a;
	reply_error(r, "NOT_IMPLEMENTED", "This is not served yet", NULL);
}
