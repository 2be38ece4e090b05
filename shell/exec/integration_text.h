/* init.bash, as it was when the program was built: @NONCE@ and @PATH@ are to be filled in. */
#pragma once

extern const char integration_text[];
