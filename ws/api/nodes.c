/* The nodes of the fleet. */
#include "ws/api/api.h"
#include "ws/api/rows.h"

static void list_nodes(struct request *r)
{
	const struct api *a = api_of(r);
	if (a->fleet)
		a->fleet->list_nodes(a->fleet->user, r);
	else
		reply_error(
			r, "NODE_NOT_FOUND", "This server is not in a fleet (see --cluster)", NULL);
}

const struct route_row api_nodes_rows[] = {
	{METHOD_GET, "/api/nodes", ROUTE_OWNER, .plain = list_nodes, .place = PLACE_HERE},
	{.path = NULL},
};
