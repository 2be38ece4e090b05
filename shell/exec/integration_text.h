/* The init files, with placeholders: @NONCE@, @PATH@, @ZDOTDIR@, @FILES@. */
#pragma once

#include <stddef.h>

/* init.bash */
extern const char integration_text[];
extern const size_t integration_text_length;

/* init.zsh */
extern const char integration_zsh_text[];
extern const size_t integration_zsh_text_length;

/* init.fish */
extern const char integration_fish_text[];
extern const size_t integration_fish_text_length;
