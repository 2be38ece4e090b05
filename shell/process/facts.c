/* What may be asked of the table of processes by those who need not know how it is kept. */
#include "shell/process/processes.h"

unsigned processes_count(const struct processes *t)
{
	return HASH_COUNT(t->table);
}

struct process *process_next(const struct processes *t, const struct process *p)
{
	return p ? p->hh.next : t->table;
}
