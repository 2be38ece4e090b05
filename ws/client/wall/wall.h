/* All sessions in one terminal. */
#pragma once

#include "ws/client/connect/cli.h"

/* `ringside wall`. */
extern const struct command command_wall;
