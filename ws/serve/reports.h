/* What sessions and processes report, into the log, the metrics, and to whoever watches the list of sessions. */
#pragma once

#include "shell/process/processes.h"
#include "shell/recording/recorders.h"
#include "shell/session/sessions.h"
#include "ws/api/api.h"
#include "ws/hook/courier.h"
#include "ws/metrics.h"

struct reports {
	struct api *api;
	struct metrics *metrics;
	struct recorders *recorders; /* NULL: there are none */
};

/* For sessions_open(), processes_open() and hooks_open(); user is a struct reports. */
extern const struct sessions_callbacks reports_of_sessions;
extern const struct processes_callbacks reports_of_processes;
extern const struct courier_callbacks reports_of_hooks;
