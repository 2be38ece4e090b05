/* Threads, queue and connection, see nats_store.h. */
#include "shell/cluster/nats_store.h"

#include "shell/cluster/nats_call.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define RECONNECT_MS 500
#define REOPEN_MS 5000u /* after the library has given up, because the server refuses us */
#define SERVERS_SIZE 2048u
#define REASON_SIZE 160u

enum operation { CALL_GET, CALL_PUT, CALL_REMOVE, CALL_LIST };

/* A bucket of the store. */
struct nats_bucket {
	struct bucket head;
	struct nats_store *store;
	struct nats_stream stream;
};

/* A call. It is in a queue, or a thread has it. */
struct call {
	struct call *prev, *next;
	struct nats_bucket *bucket;
	enum operation operation;
	char *key, *value; /* owned; value also of the answer */
	uint64_t expected, sent_ns;
	bucket_fn *fn;
	bucket_list_fn *list_fn;
	void *user;
	int error;
	uint64_t revision;
	struct nats_list list;
	bool orphan; /* it has been answered, because the store closes: the thread frees it */
};

struct nats_store {
	struct nats_options options;
	char servers[SERVERS_SIZE], *creds, *name; /* owned */
	struct nats_bucket registry, reports;
	struct nats_link link;
	struct nats_store *before; /* one that was closed before */
	uv_async_t async;
	uv_timer_t reopen;
	unsigned handles; /* that are open */
	pthread_t threads[NATS_STORE_THREADS];
	unsigned threads_count;
	unsigned out;         /* calls, for the loop's thread */
	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t work;
	struct call *waiting, *active, *done;
	bool stopping; /* the threads end */
	bool closing;
	bool closed;              /* libnats has given up */
	bool told;                /* connected, as it was reported to the owner */
	uint64_t told_reconnects; /* as counted by libnats */
	natsStatistics *statistics;
	char reason[REASON_SIZE];
};

static void carry_out(struct nats_store *s, struct call *c)
{
	struct nats_stream *stream = &c->bucket->stream;
	if (natsConnection_Status(s->link.connection) != NATS_CONN_STATUS_CONNECTED ||
		uv_hrtime() - c->sent_ns > NATS_CALL_MS * UINT64_C(1000000)) {
		c->error = -ENOTCONN;
	} else if (c->operation == CALL_GET) {
		c->error = nats_call_get(&s->link, stream, c->key, &c->value, &c->revision);
	} else if (c->operation == CALL_PUT) {
		c->error = nats_call_put(
			&s->link, stream, c->key, c->value, c->expected, &c->revision);
	} else if (c->operation == CALL_REMOVE) {
		c->error = nats_call_remove(&s->link, stream, c->key, c->expected);
	} else {
		c->error = nats_call_list(&s->link, stream, c->key, &c->list);
	}
}

static void free_call(struct call *c)
{
	nats_list_finish(&c->list);
	free(c->key);
	free(c->value);
	free(c);
}

static void *run_thread(void *user)
{
	struct nats_store *s = user;
	pthread_mutex_lock(&s->lock);
	for (;;) {
		while (!s->waiting && !s->stopping)
			pthread_cond_wait(&s->work, &s->lock);
		struct call *c = s->waiting;
		if (s->stopping)
			break;
		DL_DELETE(s->waiting, c);
		DL_APPEND(s->active, c);
		pthread_mutex_unlock(&s->lock);
		carry_out(s, c);
		pthread_mutex_lock(&s->lock);
		if (c->orphan) {
			free_call(c);
			break;
		}
		DL_DELETE(s->active, c); /* NOLINT(clang-analyzer-*): it is in the list */
		DL_APPEND(s->done, c);
		uv_async_send(&s->async);
	}
	pthread_mutex_unlock(&s->lock);
	nats_ReleaseThreadMemory();
	return NULL;
}

static int start_threads(struct nats_store *s)
{
	s->stopping = false;
	for (s->threads_count = 0; s->threads_count < NATS_STORE_THREADS; s->threads_count++)
		if (pthread_create(&s->threads[s->threads_count], NULL, run_thread, s) != 0)
			break;
	return s->threads_count > 0 ? 0 : -EAGAIN;
}

static void stop_threads(struct nats_store *s)
{
	pthread_mutex_lock(&s->lock);
	s->stopping = true;
	pthread_cond_broadcast(&s->work);
	pthread_mutex_unlock(&s->lock);
	while (s->threads_count > 0)
		pthread_join(s->threads[--s->threads_count], NULL);
}

/* Call back. */
static void answer(struct nats_store *s, struct call *c)
{
	s->out--;
	if (c->operation == CALL_LIST) {
		c->list_fn(c->user, c->error, c->list.entries, c->list.count);
	} else {
		bool read = c->operation == CALL_GET && c->error == 0;
		c->fn(c->user,
			&(struct bucket_answer){.error = c->error,
				.revision = c->revision,
				.value = read ? c->value : NULL,
				.length = read ? strlen(c->value) : 0});
	}
}

static void note_streams_gone(struct nats_store *s)
{
	/* A server that was started again has lost what it had in memory. */
	atomic_store(&s->registry.stream.exists, false);
	atomic_store(&s->reports.stream.exists, false);
}

/* Tell the owner about the connection, if that has changed. */
static void tell(struct nats_store *s, bool connected, const char *reason)
{
	if (connected == s->told)
		return;
	s->told = connected;
	if (connected) {
		note_streams_gone(s);
		s->registry.head.connections++;
		s->reports.head.connections++;
	}
	s->options.changed(s->options.user, connected, reason);
}

/*
 * Tell the owner how the connection is now. libnats reports a new one later than the first calls succeed, so this asks: what they
 * have read may have been lost in between.
 */
static void tell_state(struct nats_store *s, const char *reason)
{
	uint64_t reconnects = 0;
	natsConnection *nc = s->link.connection;
	bool connected = natsConnection_Status(nc) == NATS_CONN_STATUS_CONNECTED;
	if (natsConnection_GetStats(nc, s->statistics) == NATS_OK)
		natsStatistics_GetCounts(s->statistics, NULL, NULL, NULL, NULL, &reconnects);
	if (connected && reconnects != s->told_reconnects)
		tell(s, false, reason);
	s->told_reconnects = reconnects;
	tell(s, connected, reason);
}

static void on_async(uv_async_t *async)
{
	struct nats_store *s = async->data;
	char reason[REASON_SIZE];
	pthread_mutex_lock(&s->lock);
	struct call *c, *next, *done = s->done;
	s->done = NULL;
	bool closed = s->closed;
	memcpy(reason, s->reason, sizeof reason);
	s->closed = false;
	pthread_mutex_unlock(&s->lock);
	tell_state(s, reason);
	if (closed && !s->closing)
		uv_timer_start(&s->reopen, s->reopen.timer_cb, REOPEN_MS, 0);
	DL_FOREACH_SAFE (done, c, next) {
		answer(s, c);
		free_call(c);
	}
}

/* libnats reports the connection from its own threads. */
static void note(struct nats_store *s, bool closed, natsConnection *nc)
{
	const char *error = NULL;
	natsStatus status = natsConnection_GetLastError(nc, &error);
	pthread_mutex_lock(&s->lock);
	if (s->closing) {
		pthread_mutex_unlock(&s->lock);
		return;
	}
	s->closed |= closed;
	snprintf(s->reason, sizeof s->reason, "%s",
		status == NATS_OK ? "the connection was closed" : natsStatus_GetText(status));
	uv_async_send(&s->async);
	pthread_mutex_unlock(&s->lock);
}

static void on_connected(natsConnection *nc, void *user)
{
	note(user, false, nc);
}

static void on_disconnected(natsConnection *nc, void *user)
{
	note(user, false, nc);
}

static void on_closed(natsConnection *nc, void *user)
{
	note(user, true, nc);
}

/* Set the servers, of which *text is a copy that is cut. */
static natsStatus set_servers(natsOptions *o, char *text)
{
	const char *all[NATS_STORE_SERVERS_MAX];
	int count = 0;
	char *state = NULL;
	for (char *at = strtok_r(text, ",", &state); at; at = strtok_r(NULL, ",", &state)) {
		if (count == NATS_STORE_SERVERS_MAX)
			return NATS_INVALID_ARG;
		all[count++] = at;
	}
	return natsOptions_SetServers(o, all, count);
}

static natsStatus set_options(struct nats_store *s, natsOptions *o)
{
	char servers[SERVERS_SIZE];
	memcpy(servers, s->servers, sizeof servers);
	natsStatus rc = set_servers(o, servers);
	if (rc == NATS_OK && s->creds)
		rc = natsOptions_SetUserCredentialsFromFiles(o, s->creds, NULL);
	if (rc == NATS_OK)
		rc = natsOptions_SetName(o, s->name);
	if (rc == NATS_OK)
		rc = natsOptions_SetTimeout(o, NATS_CALL_MS);
	if (rc == NATS_OK)
		rc = natsOptions_SetMaxReconnect(o, -1);
	if (rc == NATS_OK)
		rc = natsOptions_SetReconnectWait(o, RECONNECT_MS);
	if (rc == NATS_OK)
		rc = natsOptions_SetReconnectJitter(o, RECONNECT_MS, RECONNECT_MS);
	/* Nothing may be written later than its call. */
	if (rc == NATS_OK)
		rc = natsOptions_SetReconnectBufSize(o, 1);
	if (rc == NATS_OK)
		rc = natsOptions_SetFailRequestsOnDisconnect(o, true);
	/* A server that does not answer is left after 6 s. */
	if (rc == NATS_OK)
		rc = natsOptions_SetPingInterval(o, 3000);
	if (rc == NATS_OK)
		rc = natsOptions_SetMaxPingsOut(o, 1);
	if (rc == NATS_OK)
		rc = natsOptions_SetRetryOnFailedConnect(o, true, on_connected, s);
	if (rc == NATS_OK)
		rc = natsOptions_SetReconnectedCB(o, on_connected, s);
	if (rc == NATS_OK)
		rc = natsOptions_SetDisconnectedCB(o, on_disconnected, s);
	if (rc == NATS_OK)
		rc = natsOptions_SetClosedCB(o, on_closed, s);
	return rc;
}

/* Begin to connect. Returns 0 or a negative errno. */
static int open_link(struct nats_store *s)
{
	natsOptions *o = NULL;
	jsOptions wait;
	natsStatus rc = natsOptions_Create(&o);
	if (rc == NATS_OK)
		rc = set_options(s, o);
	if (rc == NATS_OK)
		rc = natsConnection_Connect(&s->link.connection, o);
	natsOptions_Destroy(o);
	bool connected = rc == NATS_OK;
	if (rc == NATS_OK || rc == NATS_NOT_YET_CONNECTED) {
		jsOptions_Init(&wait);
		wait.Wait = NATS_CALL_MS;
		rc = natsConnection_JetStream(&s->link.jetstream, s->link.connection, &wait);
	}
	if (rc == NATS_OK && connected)
		note(s, false, s->link.connection);
	return rc == NATS_OK ? 0 : rc == NATS_NO_MEMORY ? -ENOMEM : -EINVAL;
}

static void close_stream(struct nats_stream *stream)
{
	kvStore_Destroy(stream->kv);
	stream->kv = NULL;
	atomic_store(&stream->exists, false);
}

static void close_link(struct nats_store *s)
{
	natsConnection_Close(s->link.connection); /* ends the calls of the threads */
	stop_threads(s);
	close_stream(&s->registry.stream);
	close_stream(&s->reports.stream);
	jsCtx_Destroy(s->link.jetstream);
	natsConnection_Destroy(s->link.connection);
	s->link = (struct nats_link){0};
}

/* libnats has given up: begin anew. */
static void on_reopen(uv_timer_t *timer)
{
	struct nats_store *s = timer->data;
	close_link(s);
	if (open_link(s) < 0 || start_threads(s) < 0)
		uv_timer_start(&s->reopen, on_reopen, REOPEN_MS, 0);
}

static int queue_call(struct bucket *b, const struct call *like)
{
	struct nats_bucket *bucket = (struct nats_bucket *)b;
	struct nats_store *s = bucket->store;
	if (s->out >= NATS_STORE_CALLS_MAX || s->closing)
		return -ENOBUFS;
	struct call *c = malloc(sizeof *c);
	if (!c)
		return -ENOMEM;
	*c = *like;
	c->bucket = bucket;
	c->key = strdup(like->key);
	c->value = like->value ? strdup(like->value) : NULL;
	c->sent_ns = uv_hrtime();
	if (!c->key || (like->value && !c->value)) {
		free(c->key);
		free(c->value);
		free(c);
		return -ENOMEM;
	}
	s->out++;
	pthread_mutex_lock(&s->lock);
	DL_APPEND(s->waiting, c);
	pthread_cond_signal(&s->work);
	pthread_mutex_unlock(&s->lock);
	return 0;
}

static int send_get(struct bucket *b, const char *key, bucket_fn *fn, void *user)
{
	return queue_call(b,
		&(struct call){.operation = CALL_GET, .key = (char *)key, .fn = fn, .user = user});
}

static int send_put(struct bucket *b, const char *key, const char *value, uint64_t expected,
	bucket_fn *fn, void *user)
{
	assert(strlen(value) <= BUCKET_VALUE_MAX);
	return queue_call(b,
		&(struct call){.operation = CALL_PUT,
			.key = (char *)key,
			.value = (char *)value,
			.expected = expected,
			.fn = fn,
			.user = user});
}

static int send_remove(
	struct bucket *b, const char *key, uint64_t expected, bucket_fn *fn, void *user)
{
	return queue_call(b,
		&(struct call){.operation = CALL_REMOVE,
			.key = (char *)key,
			.expected = expected,
			.fn = fn,
			.user = user});
}

static int send_list(struct bucket *b, const char *prefix, bucket_list_fn *fn, void *user)
{
	return queue_call(b,
		&(struct call){
			.operation = CALL_LIST, .key = (char *)prefix, .list_fn = fn, .user = user});
}

static const struct bucket_kind kind = {
	.get = send_get, .put = send_put, .remove = send_remove, .list = send_list};

static void init_bucket(struct nats_store *s, struct nats_bucket *b, const char *name)
{
	b->head.kind = &kind;
	b->store = s;
	b->stream.bucket = name;
	pthread_mutex_init(&b->stream.lock, NULL);
}

static void finish(struct nats_store *s)
{
	pthread_mutex_destroy(&s->registry.stream.lock);
	pthread_mutex_destroy(&s->reports.stream.lock);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->work);
	natsStatistics_Destroy(s->statistics);
	free(s->creds);
	free(s->name);
	free(s);
}

static void on_handle_closed(uv_handle_t *handle)
{
	struct nats_store *s = handle->data;
	if (--s->handles == 0 && !s->closing)
		finish(s);
}

static void close_handles(struct nats_store *s)
{
	uv_close((uv_handle_t *)&s->async, on_handle_closed);
	uv_close((uv_handle_t *)&s->reopen, on_handle_closed);
}

static int open_handles(struct nats_store *s)
{
	int rc = uv_async_init(s->options.loop, &s->async, on_async);
	if (rc < 0)
		return rc;
	uv_timer_init(s->options.loop, &s->reopen);
	s->reopen.timer_cb = on_reopen;
	s->async.data = s->reopen.data = s;
	s->handles = 2;
	return 0;
}

int nats_store_open(const struct nats_options *options, struct nats_store **ret_store)
{
	struct nats_store *s = calloc(1, sizeof *s);
	if (!s)
		return -ENOMEM;
	s->options = *options;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->work, NULL);
	init_bucket(s, &s->registry, "ringside");
	init_bucket(s, &s->reports, "ringside-nodes");
	s->reports.stream.memory = true;
	s->reports.stream.ttl_ms = options->ttl_ms;
	s->creds = options->creds ? strdup(options->creds) : NULL;
	s->name = strdup(options->name);
	int n = snprintf(s->servers, sizeof s->servers, "%s", options->servers);
	bool counts = natsStatistics_Create(&s->statistics) == NATS_OK;
	int rc = !counts || !s->name || (options->creds && !s->creds) ? -ENOMEM
		: n < 0 || (size_t)n >= sizeof s->servers             ? -EINVAL
								      : open_handles(s);
	if (rc < 0) {
		finish(s);
		return rc;
	}
	rc = open_link(s);
	if (rc == 0)
		rc = start_threads(s);
	if (rc < 0) {
		close_link(s);
		nats_CloseAndWait(NATS_CALL_MS);
		close_handles(s);
		return rc;
	}
	*ret_store = s;
	return 0;
}

/* Take all calls. Those that threads have are copied: the threads free the originals. Returns a list to be freed. */
static struct call *take_all(struct nats_store *s)
{
	struct call *c, *all = s->done;
	DL_CONCAT(all, s->waiting);
	DL_FOREACH (s->active, c) {
		struct call *copy = malloc(sizeof *copy);
		c->orphan = true;
		if (!copy)
			abort(); /* its user would wait for ever */
		*copy = *c;
		copy->key = copy->value = NULL;
		copy->list = (struct nats_list){0};
		DL_APPEND(all, copy);
	}
	s->waiting = s->active = s->done = NULL;
	return all;
}

/*
 * The connection, the threads and the memory are left to the end of the process: closing a connection just after it was restored
 * makes libnats 3.4 use freed memory.
 */
void nats_store_close(struct nats_store *s)
{
	static struct nats_store *left; /* for leak checkers */
	struct call *c, *next;
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->closing = s->stopping = true;
	struct call *all = take_all(s);
	pthread_cond_broadcast(&s->work);
	pthread_mutex_unlock(&s->lock);
	while (s->threads_count > 0)
		pthread_detach(s->threads[--s->threads_count]);
	s->before = left;
	left = s;
	close_handles(s);
	DL_FOREACH_SAFE (all, c, next) {
		c->error = -ECANCELED;
		answer(s, c);
		free_call(c);
	}
	assert(s->out == 0);
}

struct bucket *nats_store_registry(struct nats_store *s)
{
	return &s->registry.head;
}

struct bucket *nats_store_reports(struct nats_store *s)
{
	return &s->reports.head;
}
