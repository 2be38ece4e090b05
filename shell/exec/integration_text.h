/* The init files, as they were when the program was built: @NONCE@, @PATH@, @ZDOTDIR@ and @FILES@ are to be filled in. */
#pragma once

#include <stddef.h>

extern const char integration_text[];
extern const size_t integration_text_length;
extern const char integration_zsh_text[];
extern const size_t integration_zsh_text_length;
extern const char integration_fish_text[];
extern const size_t integration_fish_text_length;
