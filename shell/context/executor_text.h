/* The executors, as they were when the program was built. */
#pragma once

#include <stddef.h>

extern const char executor_python[];
extern const size_t executor_python_length;

extern const char executor_node[];
extern const size_t executor_node_length;

/* The half of executor_python that is about IPython. */
extern const char executor_ipython[];
extern const size_t executor_ipython_length;

/* What takes the types out of TypeScript, for executor_node: compressed with brotli. */
extern const char executor_types[];
extern const size_t executor_types_length;
