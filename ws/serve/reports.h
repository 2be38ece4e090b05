/* Callbacks of sessions, processes and webhooks, which write to the log and the metrics and update session lists. */
#pragma once

#include "shell/process/processes.h"
#include "shell/recording/recorders.h"
#include "shell/session/sessions.h"
#include "ws/api/api.h"
#include "ws/hook/courier.h"
#include "ws/metrics.h"

/* The receivers of reports; all borrowed. */
struct reports {
	struct api *api;
	struct metrics *metrics;
	struct recorders *recorders; /* NULL: no recording */
};

/* For sessions_open(); user is a struct reports, here and below. */
extern const struct sessions_callbacks reports_of_sessions;

/* For processes_open(). */
extern const struct processes_callbacks reports_of_processes;

/* For hooks_open(). */
extern const struct courier_callbacks reports_of_hooks;
