/* The contents of completion.bash, .fish and .zsh, embedded by the build. */
#pragma once

#include <stddef.h>

extern const char completion_bash[];
extern const size_t completion_bash_length;
extern const char completion_fish[];
extern const size_t completion_fish_length;
extern const char completion_zsh[];
extern const size_t completion_zsh_length;
