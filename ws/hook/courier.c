/*
 * The lock protects backlogs and notes; it is never held while libcurl is called. While the thread runs, libcurl's handles
 * belong to it alone. The reason of a failure is the status, or else libcurl's error text, which never contains the URL.
 */
#include "ws/hook/courier.h"

#include "shell/clock.h"
#include "shell/id.h"

#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <openssl/crypto.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define CONNECT_MS 10000L
#define WAIT_MAX_MS 60000
#define SHORTAGE_MS 200
#define HEADER_SIZE (HOOK_SIGNATURE_SIZE + 64u)

/* A pending report to the loop. */
struct note {
	const char *what; /* a literal; NULL: no failure */
	char why[HOOK_WHY_SIZE];
	bool recovered;
};

/* One webhook. */
struct receiver {
	struct courier *courier;
	char *url;
	struct hook_url place;
	struct backlog backlog;
	struct note note;
	bool failing; /* and that has been reported */
	/* For the thread only: */
	CURL *easy;
	bool going;
	struct hook_event *event; /* being sent; a reference */
	struct curl_slist *headers;
	size_t answer; /* bytes of the answer */
	bool refused;  /* plain http would have left this machine */
};

struct courier {
	struct receiver receivers[HOOKS_MAX];
	size_t count;
	const struct courier_callbacks *callbacks;
	void *user;
	struct hook_keys keys;
	char agent[COURIER_AGENT_SIZE];
	bool plain_anywhere;
	unsigned timeout_s;
	const char *authorities; /* a file of CA certificates; NULL: the system's */
	uv_async_t async;
	uv_thread_t thread;
	uv_mutex_t lock;
	CURLM *multi;
	atomic_bool ending;
};

/* Callbacks of libcurl, on the thread */

static curl_socket_t on_socket(void *user, curlsocktype purpose, struct curl_sockaddr *to)
{
	struct receiver *d = user;
	(void)purpose; /* there is only one */
	if (d->place.plain && !d->courier->plain_anywhere && !hook_address_is_loopback(&to->addr)) {
		d->refused = true;
		return CURL_SOCKET_BAD;
	}
	return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

/* For bytes of the head and the body. */
static size_t on_answer(char *bytes, size_t size, size_t count, void *user)
{
	struct receiver *d = user;
	(void)bytes; /* discarded */
	d->answer += size * count;
	return d->answer > HOOK_ANSWER_MAX ? 0 : size * count;
}

/* A try */

static bool add_header(struct receiver *d, const char *name, const char *value)
{
	char line[HEADER_SIZE];
	snprintf(line, sizeof line, "%s: %s", name, value);
	struct curl_slist *longer = curl_slist_append(d->headers, line);
	d->headers = longer ? longer : d->headers;
	return longer != NULL;
}

static bool add_headers(struct receiver *d)
{
	char time_s[24], signature[HOOK_SIGNATURE_SIZE];
	uint64_t now_s = (uint64_t)time(NULL);
	snprintf(time_s, sizeof time_s, "%" PRIu64, now_s);
	return hook_sign(&d->courier->keys, d->event->id, now_s, d->event->body, d->event->length,
		       signature) == 0 &&
		add_header(d, "Content-Type", "application/json") &&
		add_header(d, "webhook-id", d->event->id) &&
		add_header(d, "webhook-timestamp", time_s) &&
		(!signature[0] || add_header(d, "webhook-signature", signature)) &&
		/* Disable "Expect: 100-continue". */
		add_header(d, "Expect", "");
}

/* Set the options that are the same for all requests. */
static bool set_up(struct receiver *d)
{
	const struct courier *c = d->courier;
	CURL *e = d->easy;
	CURLcode rc = curl_easy_setopt(e, CURLOPT_URL, d->url);
	/* Security. */
	rc |= curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, d->place.plain ? "http" : "https");
	rc |= curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
	rc |= curl_easy_setopt(e, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	rc |= curl_easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, on_socket);
	rc |= curl_easy_setopt(e, CURLOPT_OPENSOCKETDATA, d);
	if (d->place.plain) /* $http_proxy may be another machine */
		rc |= curl_easy_setopt(e, CURLOPT_NOPROXY, "*");
	if (c->authorities)
		rc |= curl_easy_setopt(e, CURLOPT_CAINFO, c->authorities);
	/* Answers. */
	rc |= curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	rc |= curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_answer);
	rc |= curl_easy_setopt(e, CURLOPT_HEADERDATA, d);
	rc |= curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_answer);
	rc |= curl_easy_setopt(e, CURLOPT_WRITEDATA, d);
	rc |= curl_easy_setopt(e, CURLOPT_PRIVATE, d);
	rc |= curl_easy_setopt(e, CURLOPT_USERAGENT, c->agent);
	/* Time limits. QUICK_EXIT: do not wait for a resolver that hangs. */
	rc |= curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	rc |= curl_easy_setopt(e, CURLOPT_QUICK_EXIT, 1L);
	rc |= curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	rc |= curl_easy_setopt(e, CURLOPT_TIMEOUT, (long)c->timeout_s);
	return rc == CURLE_OK;
}

static bool begin(struct receiver *d)
{
	const char *body = d->event->body;
	d->answer = 0;
	d->refused = false;
	CURLcode rc = CURLE_OUT_OF_MEMORY;
	if (add_headers(d)) {
		rc = curl_easy_setopt(d->easy, CURLOPT_HTTPHEADER, d->headers);
		rc |= curl_easy_setopt(d->easy, CURLOPT_POSTFIELDS, body);
		rc |= curl_easy_setopt(d->easy, CURLOPT_POSTFIELDSIZE, (long)d->event->length);
	}
	d->going = rc == CURLE_OK && curl_multi_add_handle(d->courier->multi, d->easy) == CURLM_OK;
	return d->going;
}

/* The end of a try */

/* Note an outcome for the loop. The lock is held. */
static void note(struct receiver *d, enum backlog_outcome outcome, const char *why)
{
	static const char *const words[] = {[BACKLOG_AGAIN] = "delivery failed, retrying",
		[BACKLOG_GIVEN_UP] = "delivery failed too often, the event is given up",
		[BACKLOG_REFUSED] = "the receiver refused an event, which is given up",
		[BACKLOG_UNWANTED] = "the receiver wants no more events, sending stops"};
	if (outcome == BACKLOG_ARRIVED) {
		d->note.recovered |= d->failing;
		d->failing = false;
		return;
	}
	/* Report a receiver that is down once, not with each try. */
	if (outcome == BACKLOG_AGAIN && d->failing)
		return;
	d->failing = true;
	d->note.what = words[outcome];
	snprintf(d->note.why, sizeof d->note.why, "%s", why);
}

static void judge(struct receiver *d, CURLcode rc)
{
	struct courier *c = d->courier;
	long status = 0;
	curl_off_t after_s = 0;
	unsigned char random = 0;
	char why[HOOK_WHY_SIZE];
	if (d->going) {
		curl_easy_getinfo(d->easy, CURLINFO_RESPONSE_CODE, &status);
		curl_easy_getinfo(d->easy, CURLINFO_RETRY_AFTER, &after_s);
		curl_multi_remove_handle(c->multi, d->easy);
	}
	d->going = false;
	curl_slist_free_all(d->headers);
	d->headers = NULL;
	if (d->refused)
		snprintf(why, sizeof why, "plain http, but the address is not a loopback address");
	else if (status > 0)
		snprintf(why, sizeof why, "HTTP status %ld", status);
	else
		snprintf(why, sizeof why, "%s", curl_easy_strerror(rc));
	(void)id_random(&random, sizeof random); /* 0 is fine too */
	if (after_s < 0 || after_s > HOOK_RETRY_AFTER_MAX_MS)
		after_s = HOOK_RETRY_AFTER_MAX_MS;
	const struct backlog_answer answer = {
		.status = (int)status, .retry_after_ms = (uint64_t)after_s * 1000, .random = random};
	uv_mutex_lock(&c->lock);
	note(d, backlog_end(&d->backlog, &answer, clock_monotonic_ms()), why);
	hook_event_unref(d->event);
	bool has_note = d->note.what || d->note.recovered;
	uv_mutex_unlock(&c->lock);
	d->event = NULL;
	if (has_note)
		uv_async_send(&c->async);
}

/* The thread */

static struct hook_event *take(struct receiver *d, uint64_t *ret_wait_ms)
{
	uv_mutex_lock(&d->courier->lock);
	const struct hook_event *e = backlog_begin(&d->backlog, clock_monotonic_ms(), ret_wait_ms);
	struct hook_event *taken = e ? hook_event_ref((struct hook_event *)e) : NULL;
	uv_mutex_unlock(&d->courier->lock);
	return taken;
}

/* Begin all tries that are due. Returns the time until the next one is due, in ms. *ret_going: whether any is under way. */
static int begin_some(struct courier *c, bool *ret_going)
{
	uint64_t least = WAIT_MAX_MS, wait;
	*ret_going = false;
	for (size_t i = 0; i < c->count; i++) {
		struct receiver *d = &c->receivers[i];
		while (!d->going && (d->event = take(d, &wait)))
			if (!begin(d))
				judge(d, CURLE_OUT_OF_MEMORY);
		if (!d->going && wait < least)
			least = wait;
		*ret_going |= d->going;
	}
	return (int)least;
}

static bool judge_all(struct courier *c)
{
	CURLMsg *message;
	int left;
	bool some = false;
	while ((message = curl_multi_info_read(c->multi, &left))) {
		char *receiver = NULL;
		if (message->msg != CURLMSG_DONE)
			continue;
		CURLcode rc = message->data.result;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &receiver);
		judge((struct receiver *)(void *)receiver, rc);
		some = true;
	}
	return some;
}

static void bring_all(struct courier *c)
{
	uint64_t deadline = 0;
	for (;;) {
		bool going, ending = atomic_load(&c->ending);
		int running, wait = begin_some(c, &going);
		uint64_t now = clock_monotonic_ms();
		if (ending && deadline == 0)
			deadline = now + HOOK_FAREWELL_MS;
		if (ending && (!going || now >= deadline))
			break;
		if (ending && wait > (int)(deadline - now))
			wait = (int)(deadline - now);
		if (curl_multi_perform(c->multi, &running) != CURLM_OK)
			uv_sleep(SHORTAGE_MS); /* memory is short, perhaps not for long */
		/* Do not wait if a try has ended, as another may be due. */
		if (!judge_all(c))
			curl_multi_poll(c->multi, NULL, 0, wait, NULL);
	}
}

static void on_thread(void *user)
{
	struct courier *c = user;
	bring_all(c);
	for (size_t i = 0; i < c->count; i++) {
		struct receiver *d = &c->receivers[i];
		if (d->going)
			curl_multi_remove_handle(c->multi, d->easy);
		curl_slist_free_all(d->headers);
		d->headers = NULL;
	}
	OPENSSL_thread_stop();
}

/* On the loop */

static void on_notes(uv_async_t *async)
{
	struct courier *c = async->data;
	for (size_t i = 0; i < c->count; i++) {
		struct receiver *d = &c->receivers[i];
		uv_mutex_lock(&c->lock);
		struct note note = d->note;
		bool failing = d->failing;
		d->note = (struct note){0};
		uv_mutex_unlock(&c->lock);
		/* If both have happened since the last report, report the present state last. */
		if (note.recovered && failing)
			c->callbacks->recovered(c->user, d->place.name);
		if (note.what)
			c->callbacks->failed(c->user, d->place.name, note.what, note.why);
		if (note.recovered && !failing)
			c->callbacks->recovered(c->user, d->place.name);
	}
}

static void courier_free(struct courier *c)
{
	for (size_t i = 0; i < c->count; i++) {
		struct receiver *d = &c->receivers[i];
		curl_easy_cleanup(d->easy);
		if (d->url)
			OPENSSL_cleanse(d->url, strlen(d->url));
		free(d->url);
	}
	curl_multi_cleanup(c->multi);
	curl_global_cleanup();
	hook_keys_wipe(&c->keys);
	uv_mutex_destroy(&c->lock);
	free(c);
}

static bool open_receiver(struct courier *c, const char *url)
{
	struct receiver *d = &c->receivers[c->count++];
	d->courier = c;
	d->url = strdup(url);
	d->easy = curl_easy_init();
	return d->url && d->easy && hook_url_check(url, &d->place) != HOOK_URL_INVALID && set_up(d);
}

/* Create all but the async handle and the thread. */
static struct courier *create(const struct courier_options *o)
{
	struct courier *c = calloc(1, sizeof *c);
	if (!c || uv_mutex_init(&c->lock) < 0) {
		free(c);
		return NULL;
	}
	bool good = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
	c->keys = o->keys;
	c->plain_anywhere = o->plain_anywhere;
	c->timeout_s = o->timeout_s;
	c->authorities = getenv("SSL_CERT_FILE");
	snprintf(c->agent, sizeof c->agent, "%s", o->agent);
	c->multi = curl_multi_init();
	for (size_t i = 0; good && i < o->count; i++)
		good = open_receiver(c, o->urls[i]);
	if (good && c->multi)
		return c;
	courier_free(c);
	return NULL;
}

static void on_closed(uv_handle_t *async)
{
	courier_free(async->data);
}

int courier_open(uv_loop_t *loop, const struct courier_options *o,
	const struct courier_callbacks *callbacks, void *user, struct courier **ret_courier)
{
	struct courier *c = create(o);
	if (!c)
		return -ENOMEM;
	c->callbacks = callbacks;
	c->user = user;
	int rc = uv_async_init(loop, &c->async, on_notes);
	if (rc < 0) {
		courier_free(c);
		return rc;
	}
	c->async.data = c;
	uv_unref((uv_handle_t *)&c->async);
	rc = uv_thread_create(&c->thread, on_thread, c);
	if (rc < 0) {
		uv_close((uv_handle_t *)&c->async, on_closed);
		return rc;
	}
	*ret_courier = c;
	return 0;
}

void courier_send(struct courier *c, struct hook_event *e)
{
	uint64_t now = clock_monotonic_ms();
	uv_mutex_lock(&c->lock);
	for (size_t i = 0; i < c->count; i++)
		backlog_add(&c->receivers[i].backlog, e, now);
	uv_mutex_unlock(&c->lock);
	curl_multi_wakeup(c->multi);
}

void courier_count_dropped(struct courier *c)
{
	uv_mutex_lock(&c->lock);
	for (size_t i = 0; i < c->count; i++) {
		c->receivers[i].backlog.counts.told++;
		c->receivers[i].backlog.counts.dropped++;
	}
	uv_mutex_unlock(&c->lock);
}

void courier_get_counts(struct courier *c, struct backlog_counts *ret_counts)
{
	struct backlog_counts sum = {0};
	uv_mutex_lock(&c->lock);
	for (size_t i = 0; i < c->count; i++) {
		const struct backlog_counts *one = &c->receivers[i].backlog.counts;
		sum.waiting += one->waiting;
		sum.told += one->told;
		sum.tries += one->tries;
		sum.arrived += one->arrived;
		sum.failed += one->failed;
		sum.given_up += one->given_up;
		sum.dropped += one->dropped;
		sum.merged += one->merged;
	}
	uv_mutex_unlock(&c->lock);
	*ret_counts = sum;
}

unsigned courier_close(struct courier *c)
{
	unsigned lost = 0;
	atomic_store(&c->ending, true);
	curl_multi_wakeup(c->multi);
	uv_thread_join(&c->thread);
	on_notes(&c->async);
	for (size_t i = 0; i < c->count; i++) {
		hook_event_unref(c->receivers[i].event);
		lost += backlog_finish(&c->receivers[i].backlog);
	}
	uv_close((uv_handle_t *)&c->async, on_closed);
	return lost;
}
