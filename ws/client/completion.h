/* completion.bash, as it was when the program was built. */
#pragma once

extern const char completion_bash[];
