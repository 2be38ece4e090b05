/* init.bash, as it was when the program was built: @NONCE@ and @PATH@ are to be filled in. */
#pragma once

#include <stddef.h>

extern const char integration_text[];
extern const size_t integration_text_length;
