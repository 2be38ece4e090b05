/*
 * Follows the list of sessions of the fleet (GET /api/session/events): after each change the joined list is sent. Changes of
 * other nodes are noticed in their reports.
 */
#pragma once

#include "ws/fleet/gather.h"

#define FOLLOW_MS 1000u /* between two looks at the reports */

struct follower;

/* All is borrowed, except the list and the timer. */
struct follows {
	struct gathers *gathers;
	struct follower *list;
	uv_timer_t timer;
	uint64_t seen; /* of all reports: changes when one of them does */
};

/* Initialize. */
void follows_open(struct follows *all, struct gathers *gathers);

/* Close the timer. No follower is left. */
void follows_close(struct follows *all);

/* Whether r asks for the events. */
bool follow_is_events(const struct request *r);

/* Answer r with them. */
void follow_begin(struct follows *all, struct request *r);

/* The list of this node has changed. */
void follows_changed(struct follows *all);
