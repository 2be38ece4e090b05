/* The executors' source, built into the program. */
#pragma once

#include <stddef.h>

/* executor.py. */
extern const char executor_python[];
extern const size_t executor_python_length;

/* executor.cjs. */
extern const char executor_node[];
extern const size_t executor_node_length;

/* ipython.py. */
extern const char executor_ipython[];
extern const size_t executor_ipython_length;

/* types.mjs, bundled with Sucrase and compressed with brotli. */
extern const char executor_types[];
extern const size_t executor_types_length;
