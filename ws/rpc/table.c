/* The export and import tables. */
#include "ws/rpc/internal.h"

#include <stdlib.h>

struct rpc_export *export_find(const struct rpc_engine *e, int64_t id)
{
	struct rpc_export *x;
	HASH_FIND(hh, e->exports, &id, sizeof id, x);
	return x;
}

struct rpc_export *export_add(struct rpc_engine *e, int64_t id, struct rpc_node *node)
{
	bool full = HASH_COUNT(e->exports) >= RPC_EXPORTS_MAX;
	struct rpc_export *x = full ? NULL : calloc(1, sizeof *x);
	if (x) {
		x->id = id;
		x->node = node;
		x->references = 1;
		HASH_ADD(hh, e->exports, id, sizeof x->id, x);
		if (x->hh.tbl)
			return x;
	}
	free(x);
	node_unref(node);
	rpc_engine_abort(e, full ? "too many results are not released" : "out of memory");
	return NULL;
}

void export_remove(struct rpc_engine *e, struct rpc_export *x)
{
	/* It may be exported again, under another id. */
	if (x->node->kind == NODE_TARGET && x->node->id == x->id)
		x->node->id = 0;
	/* A pipe that is released before it is closed has broken off. */
	if (x->node->kind == NODE_PIPE && !e->closing)
		pipe_released(x->node->pipe);
	HASH_DEL(e->exports, x);
	node_unref(x->node);
	free(x);
}

struct rpc_import *import_find(const struct rpc_engine *e, int64_t id)
{
	struct rpc_import *i;
	HASH_FIND(hh, e->imports, &id, sizeof id, i);
	return i;
}

struct rpc_import *import_add(struct rpc_engine *e, int64_t id, enum import_kind kind)
{
	bool full = HASH_COUNT(e->imports) >= RPC_IMPORTS_MAX;
	struct rpc_import *i = full ? NULL : calloc(1, sizeof *i);
	if (i) {
		i->id = id;
		i->kind = kind;
		i->introduced = 1;
		HASH_ADD(hh, e->imports, id, sizeof i->id, i);
		if (i->hh.tbl)
			return i;
	}
	free(i);
	rpc_engine_abort(e, full ? "too many stubs are held" : "out of memory");
	return NULL;
}

void import_remove(struct rpc_engine *e, struct rpc_import *i)
{
	HASH_DEL(e->imports, i);
	if (i->kind != IMPORT_STUB)
		node_unref(i->node);
	free(i);
}
