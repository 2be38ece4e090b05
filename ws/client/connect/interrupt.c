#include "ws/client/connect/interrupt.h"

#include <signal.h>

static void on_signal(uv_signal_t *handle, int signo)
{
	struct interrupt *i = handle->data;
	i->count++;
	i->signo = signo;
	i->interrupted(i->user, signo);
}

void interrupt_open(struct interrupt *i, struct cli *cli)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	for (size_t n = 0; n < 4; n++) {
		uv_signal_init(&cli->loop, &i->signals[n]);
		i->signals[n].data = i;
		uv_signal_start(&i->signals[n], on_signal, numbers[n]);
	}
}

void interrupt_close(struct interrupt *i, struct cli *cli)
{
	for (size_t n = 0; n < 4; n++)
		uv_close((uv_handle_t *)&i->signals[n], NULL);
	uv_run(&cli->loop, UV_RUN_NOWAIT);
}
