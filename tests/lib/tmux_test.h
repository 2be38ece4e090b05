/* The fixture of unit tests with the model of tmux_model.h. */
#pragma once

#include "tests/lib/tmux_model.h"

#include <criterion/criterion.h>

static struct tmux t;

static inline void tmux_set_up(void)
{
	tmux_model_begin(&t);
}

static inline void tmux_tear_down(void)
{
	tmux_model_end(&t);
}

#define TMUX_SUITE .init = tmux_set_up, .fini = tmux_tear_down, .timeout = 60
