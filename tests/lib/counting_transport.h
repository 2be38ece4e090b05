/* The callbacks of a request's transport, which count their calls. */
#pragma once

struct transport_calls {
	unsigned answered, streaming, more, uploading, downloading;
};

static struct transport_calls calls;

static inline void count_answered(void *user)
{
	(void)user;
	calls.answered++;
}

static inline void count_streaming(void *user)
{
	(void)user;
	calls.streaming++;
}

static inline void count_more(void *user)
{
	(void)user;
	calls.more++;
}

static inline void count_uploading(void *user)
{
	(void)user;
	calls.uploading++;
}

static inline void count_downloading(void *user)
{
	(void)user;
	calls.downloading++;
}
