/* What sessions and processes report, into the log, the metrics, and to whoever watches the list of sessions. */
#pragma once

#include "shell/process/processes.h"
#include "shell/session/sessions.h"
#include "ws/api/api.h"
#include "ws/metrics.h"

struct reports {
	struct api *api;
	struct metrics *metrics;
};

/* For sessions_open() and processes_open(); user is a struct reports. */
extern const struct sessions_callbacks reports_of_sessions;
extern const struct processes_callbacks reports_of_processes;
