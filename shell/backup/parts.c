/*
 * One thread drives all parts with curl_multi; the loop only sets the cancel flag and calls
 * curl_multi_wakeup(). A part has a curl handle during a try. Parts are retried only after errors that may be
 * temporary.
 */
#include "shell/backup/parts.h"

#include "shell/backup/parts_internal.h"
#include "shell/clock.h"

#include <curl/curl.h>
#include <errno.h>
#include <netinet/in.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define WAIT_MS 1000

void parts_fail(struct parts *p, const struct piece *piece, int status, const char *why)
{
	if (p->error[0])
		return;
	/* A cancellation causes an error of libcurl, which is not the reason. */
	bool cancelled = atomic_load(&p->cancelled);
	p->failed_number = piece && !cancelled ? piece->part->number : 0;
	p->failed_status = cancelled ? 0 : status;
	snprintf(p->error, sizeof p->error, "%s", cancelled ? "The transfer was cancelled" : why);
}

/* URLs and addresses */

bool parts_url_is_valid(const char *url)
{
	char *scheme = NULL, *user = NULL, *host = NULL;
	size_t length = strlen(url);
	for (const char *c = url; *c; c++)
		if (*c <= ' ' || *c >= 0x7f)
			return false;
	CURLU *parsed = length <= PARTS_URL_MAX ? curl_url() : NULL;
	bool good = parsed && curl_url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK &&
		curl_url_get(parsed, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
		strcmp(scheme, "https") == 0 &&
		curl_url_get(parsed, CURLUPART_HOST, &host, 0) == CURLUE_OK && host[0] &&
		curl_url_get(parsed, CURLUPART_USER, &user, 0) == CURLUE_NO_USER;
	curl_free(scheme);
	curl_free(user);
	curl_free(host);
	curl_url_cleanup(parsed);
	return good;
}

static bool is_refused_4(uint32_t a)
{
	/* 0.0.0.0/8, 169.254.0.0/16, 224.0.0.0/3; metadata of Azure (168.63.129.16) and Alibaba (100.100.100.200). */
	return a >> 24 == 0 || a >> 16 == 0xa9fe || a >> 28 >= 0xe || a == 0xa83f8110 ||
		a == 0x646464c8;
}

/* The address of IPv4 at b. */
static uint32_t read_4(const uint8_t *b)
{
	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static bool is_refused_6(const struct in6_addr *a)
{
	/* Metadata services of Amazon (fd00:ec2::/32) and Google (fd20:ce::/32). */
	static const uint8_t amazon[4] = {0xfd, 0, 0x0e, 0xc2}, google[4] = {0xfd, 0x20, 0, 0xce};
	/* RFC 6052; RFC 8215, where any part may be the address of IPv4; RFC 3056 (6to4). */
	static const uint8_t nat64[12] = {0, 0x64, 0xff, 0x9b},
			     local_nat64[6] = {0, 0x64, 0xff, 0x9b, 0, 1};
	static const uint8_t six_to_four[2] = {0x20, 0x02};
	const uint8_t *b = a->s6_addr;
	if (IN6_IS_ADDR_V4MAPPED(a) || memcmp(b, nat64, sizeof nat64) == 0)
		return is_refused_4(read_4(b + 12));
	if (memcmp(b, six_to_four, sizeof six_to_four) == 0)
		return is_refused_4(read_4(b + 2));
	if (IN6_IS_ADDR_V4COMPAT(a) || memcmp(b, local_nat64, sizeof local_nat64) == 0)
		return true;
	return IN6_IS_ADDR_UNSPECIFIED(a) || IN6_IS_ADDR_LINKLOCAL(a) || IN6_IS_ADDR_MULTICAST(a) ||
		memcmp(b, amazon, sizeof amazon) == 0 || memcmp(b, google, sizeof google) == 0;
}

bool parts_address_is_refused(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return is_refused_4(
			ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr));
	return address->sa_family != AF_INET6 ||
		is_refused_6(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

static curl_socket_t on_socket(void *user, curlsocktype purpose, struct curl_sockaddr *to)
{
	struct piece *piece = user;
	(void)purpose; /* always CURLSOCKTYPE_IPCXN */
	if (parts_address_is_refused(&to->addr)) {
		piece->refused = true;
		return CURL_SOCKET_BAD;
	}
	return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

/* Progress; called inside curl_multi_perform() */

void piece_advance(struct piece *piece, size_t length)
{
	piece->at += length;
	piece->parts->bytes += length;
	atomic_fetch_add(&piece->parts->moved, length);
}

void piece_rewind(struct piece *piece)
{
	atomic_fetch_sub(&piece->parts->moved, piece->at);
	piece->at = 0;
}

size_t piece_add_answer(struct piece *piece, const char *bytes, size_t length)
{
	size_t space = PARTS_ANSWER_KEPT - piece->answer_length;
	memcpy(piece->answer + piece->answer_length, bytes, length < space ? length : space);
	piece->answer_length += length < space ? length : space;
	piece->answer[piece->answer_length] = '\0';
	piece->answer_total += length;
	return piece->answer_total > PARTS_ANSWER_MAX ? 0 : length;
}

/* Tries */

static bool set_up(struct piece *piece)
{
	struct parts *p = piece->parts;
	CURL *e = piece->easy;
	CURLcode rc = curl_easy_setopt(e, CURLOPT_URL, piece->part->url);
	/* Security. */
	rc |= curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "https");
	rc |= curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
	rc |= curl_easy_setopt(e, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	rc |= curl_easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, on_socket);
	rc |= curl_easy_setopt(e, CURLOPT_OPENSOCKETDATA, piece);
	if (p->authorities)
		rc |= curl_easy_setopt(e, CURLOPT_CAINFO, p->authorities);
	rc |= curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	rc |= curl_easy_setopt(e, CURLOPT_PRIVATE, piece);
	/* Timeouts. QUICK_EXIT: do not wait for a resolver that does not answer. */
	rc |= curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	rc |= curl_easy_setopt(e, CURLOPT_QUICK_EXIT, 1L);
	rc |= curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)PARTS_CONNECT_MS);
	rc |= curl_easy_setopt(e, CURLOPT_LOW_SPEED_LIMIT, 1L);
	rc |= curl_easy_setopt(e, CURLOPT_LOW_SPEED_TIME, (long)PARTS_STALL_S);
	return rc == CURLE_OK && p->way->set_up(piece) == CURLE_OK;
}

static void begin_try(struct piece *piece)
{
	struct parts *p = piece->parts;
	piece_rewind(piece);
	piece->answer_length = piece->answer_total = 0;
	piece->answer[0] = '\0';
	piece->tries++;
	piece->easy = curl_easy_init();
	if (!piece->easy || !set_up(piece) ||
		curl_multi_add_handle(p->multi, piece->easy) != CURLM_OK) {
		curl_easy_cleanup(piece->easy);
		piece->easy = NULL;
		parts_fail(p, piece, 0, "Out of memory");
		return;
	}
	p->going++;
}

static void end_try(struct piece *piece)
{
	struct parts *p = piece->parts;
	if (!piece->easy)
		return;
	curl_multi_remove_handle(p->multi, piece->easy);
	curl_easy_cleanup(piece->easy);
	piece->easy = NULL;
	p->going--;
}

/* The error code in S3's answer, or "". Only letters and digits: the rest may quote the signature. */
static const char *error_name(struct piece *piece)
{
	static const char tag[] = "<Code>";
	char *name = strstr(piece->answer, tag);
	if (!name)
		return "";
	name += sizeof tag - 1;
	size_t length = strspn(
		name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789");
	if (length == 0 || length > 64 || name[length] != '<')
		return "";
	name[length] = '\0';
	return name;
}

static bool is_temporary(CURLcode rc, long status)
{
	if (rc == CURLE_OK)
		return status >= 500 || status == 408 || status == 429;
	return rc != CURLE_URL_MALFORMAT && rc != CURLE_UNSUPPORTED_PROTOCOL &&
		rc != CURLE_PEER_FAILED_VERIFICATION && rc != CURLE_SSL_CACERT_BADFILE &&
		rc != CURLE_WRITE_ERROR && rc != CURLE_OUT_OF_MEMORY;
}

/* A try has failed: schedule another, or fail. */
static void fail_try(struct piece *piece, CURLcode rc, long status)
{
	char why[256];
	const char *name = rc == CURLE_OK ? error_name(piece) : "";
	if (!piece->refused && is_temporary(rc, status) && piece->tries < PARTS_TRIES) {
		piece->retry_ms = clock_monotonic_ms() +
			(piece->tries == 1 ? PARTS_RETRY_MS : 4 * PARTS_RETRY_MS);
		return;
	}
	if (piece->refused)
		snprintf(why, sizeof why,
			"The host's address is refused: link-local, metadata, multicast or unspecified");
	else if (rc != CURLE_OK)
		snprintf(why, sizeof why, "%s", curl_easy_strerror(rc));
	else
		snprintf(why, sizeof why, "The store answered %ld%s%s", status, *name ? " " : "",
			name);
	parts_fail(piece->parts, piece, (int)status, why);
}

static void finish_try(struct piece *piece, CURLcode rc)
{
	struct parts *p = piece->parts;
	long status = 0;
	curl_easy_getinfo(piece->easy, CURLINFO_RESPONSE_CODE, &status);
	bool good = rc == CURLE_OK && status >= 200 && status <= 299;
	const char *why = good ? p->way->check(piece, status) : NULL;
	end_try(piece);
	if (!good) {
		fail_try(piece, rc, status);
	} else if (why) {
		parts_fail(p, piece, (int)status, why);
	} else {
		piece->done = true;
		p->done++;
	}
}

/* The thread */

static bool finish_tries(struct parts *p)
{
	CURLMsg *message;
	int left;
	bool some = false;
	while ((message = curl_multi_info_read(p->multi, &left))) {
		char *piece = NULL;
		if (message->msg != CURLMSG_DONE)
			continue;
		CURLcode rc = message->data.result;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &piece);
		finish_try((struct piece *)(void *)piece, rc);
		some = true;
	}
	return some;
}

/* Start tries that are due. Returns the milliseconds until the next one is. */
static int begin_due(struct parts *p)
{
	uint64_t now = clock_monotonic_ms(), wait = WAIT_MS;
	for (size_t i = 0; i < p->count && p->going < PARTS_AT_ONCE && !p->error[0]; i++) {
		struct piece *piece = &p->pieces[i];
		if (piece->done || piece->easy)
			continue;
		if (piece->retry_ms <= now)
			begin_try(piece);
		else if (piece->retry_ms - now < wait)
			wait = piece->retry_ms - now;
	}
	return (int)wait;
}

static void transfer_all(struct parts *p)
{
	while (p->done < p->count && !p->error[0]) {
		int running, wait = begin_due(p);
		if (curl_multi_perform(p->multi, &running) != CURLM_OK)
			parts_fail(p, NULL, 0, "libcurl has failed");
		if (!finish_tries(p))
			curl_multi_poll(p->multi, NULL, 0, wait, NULL);
		if (atomic_load(&p->cancelled))
			parts_fail(p, NULL, 0, "");
		else if (clock_monotonic_ms() >= p->deadline_ms)
			parts_fail(p, NULL, 0, "The transfer timed out");
	}
	for (size_t i = 0; i < p->count; i++)
		end_try(&p->pieces[i]);
}

static void run_transfer(struct parts *p)
{
	const char *wrong = "The directory of archives cannot be opened";
	p->deadline_ms = clock_monotonic_ms() + p->timeout_ms;
	/* The directory of archives may not exist yet. */
	if (p->way == &parts_download)
		(void)mkdir(p->place.cwd, 0755); /* if this fails, place_enter() does too */
	int rc = place_enter(&p->place);
	if (rc == 0) {
		wrong = p->way->open(p);
		place_leave(&p->place);
	} else if (p->way == &parts_upload && rc == -ENOENT) {
		wrong = "The archive does not exist";
	}
	if (wrong) {
		parts_fail(p, NULL, 0, wrong);
		return;
	}
	transfer_all(p);
	p->way->close(p, !p->error[0]);
}

static void on_work(struct job *job)
{
	run_transfer((struct parts *)job);
	/* Free OpenSSL's data of this thread, which is never joined. */
	OPENSSL_thread_stop();
}

/* On the loop */

static void parts_free(struct parts *p)
{
	for (size_t i = 0; p->all && i < p->count; i++)
		free(p->all[i].url);
	free(p->all);
	free(p->pieces);
	curl_slist_free_all(p->headers);
	curl_multi_cleanup(p->multi);
	curl_global_cleanup();
	free(p);
}

static void on_done(struct job *job, int error)
{
	struct parts *p = (struct parts *)job;
	if (error < 0)
		parts_fail(p, NULL, 0,
			error == -ECANCELED ? "The server is shutting down"
					    : "The archive cannot be accessed");
	const struct parts_result result = {.error = p->error[0] ? p->error : NULL,
		.number = p->failed_number,
		.status = p->failed_status,
		.bytes = p->bytes,
		.total = p->total,
		.all = p->all,
		.count = p->count};
	p->cb(p->user, &result);
	parts_free(p);
}

static int by_number(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	return x->number < y->number ? -1 : x->number > y->number;
}

static struct parts *create(const struct parts_options *o)
{
	struct parts *p = calloc(1, sizeof *p);
	if (!p || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		free(p);
		return NULL;
	}
	p->job = (struct job){.work = on_work, .done = on_done};
	p->way = o->fetch ? &parts_download : &parts_upload;
	p->whole = o->whole;
	p->timeout_ms = o->timeout_ms > 0 ? o->timeout_ms : PARTS_TIMEOUT_MS;
	p->count = o->count;
	p->pieces = calloc(o->count, sizeof *p->pieces);
	p->headers = curl_slist_append(NULL, "Content-Type: application/octet-stream");
	p->multi = curl_multi_init();
	p->authorities = getenv("SSL_CERT_FILE");
	bool fits = place_of_directory(&p->place, o->root) &&
		(size_t)snprintf(p->path, sizeof p->path, "%s", o->path) < sizeof p->path;
	p->place.beneath = true;
	if (p->pieces && p->headers && p->multi && fits)
		return p;
	parts_free(p);
	return NULL;
}

int parts_start(struct crew *crew, const struct parts_options *o, parts_cb done, void *user,
	struct parts **ret_parts)
{
	struct parts *p = create(o);
	if (!p)
		return -ENOMEM;
	p->cb = done;
	p->user = user;
	p->all = o->all;
	qsort(p->all, p->count, sizeof *p->all, by_number);
	for (size_t i = 0; i < p->count; i++)
		p->pieces[i] = (struct piece){.parts = p, .part = &p->all[i]};
	for (size_t i = 0; i < p->count; i++)
		p->total += p->all[i].size;
	int rc = crew_send(crew, &p->job);
	if (rc < 0) {
		p->all = NULL; /* still owned by the caller */
		parts_free(p);
		return rc;
	}
	*ret_parts = p;
	return 0;
}

void parts_cancel(struct parts *p)
{
	atomic_store(&p->cancelled, true);
	curl_multi_wakeup(p->multi);
}

uint64_t parts_progress(const struct parts *p)
{
	return atomic_load(&p->moved);
}
