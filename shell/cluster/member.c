#include "shell/cluster/member.h"

#include "shell/cluster/nats_store.h"
#include "shell/id.h"
#include "shell/store/document.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define IDENTITY_FILE "node.json"
#define IDENTITY_FILE_MAX 4096u
#define SECRET_KEY "secret"
#define TICK_MS 200u

/* An object that may be gone. */
struct leaver {
	struct leaver *next;
	struct object_id object;
};

struct member {
	struct member_options options;
	char secret[MEMBER_SECRET_SIZE]; /* "": not known */
	char instance[NODES_INSTANCE_SIZE];
	struct nats_store *store;
	struct claims *claims;
	struct places *places;
	struct nodes *nodes;
	uv_timer_t tick; /* what is due of claims and nodes */
	uv_timer_t due;  /* looks at what has changed, in the next turn of the loop */
	struct leaver *leavers;
	bool connected;
	bool asking;   /* the secret is being compared */
	bool agreed;   /* the registry has our secret */
	bool refused;  /* it has another one, or another node has our name */
	bool reported; /* joined() has been called */
};

static uint64_t now_ms(void *user)
{
	(void)user;
	return uv_hrtime() / 1000000;
}

/* Identity */

static bool copy(const json_t *json, const char *name, char *text, size_t size)
{
	const char *value = json_string_value(json_object_get(json, name));
	return value && *value && (size_t)snprintf(text, size, "%s", value) < size;
}

static int save_identity(const struct member *m)
{
	return document_save(m->options.runtime_fd, IDENTITY_FILE,
		json_pack("{s:s, s:s}", "instance", m->instance, "secret", m->secret));
}

static int load_identity(struct member *m)
{
	json_t *root = NULL;
	int rc = document_load(m->options.runtime_fd, IDENTITY_FILE, IDENTITY_FILE_MAX, &root);
	bool good = rc == 0 && copy(root, "instance", m->instance, sizeof m->instance);
	if (good && !copy(root, "secret", m->secret, sizeof m->secret))
		m->secret[0] = '\0';
	json_decref(root);
	if (good)
		return 0;
	if (rc < 0 && rc != -ENOENT && rc != -EBADMSG)
		return rc;
	rc = id_hex(m->instance, 33);
	return rc < 0 ? rc : save_identity(m);
}

/* Joining */

static void conclude(struct member *m, int error)
{
	m->refused = error < 0;
	if (m->reported)
		return;
	m->reported = true;
	m->options.callbacks->joined(m->options.user, error);
}

static void on_joined(void *user, int error)
{
	conclude(user, error);
}

static void fill_report(void *user, struct node_report *report)
{
	struct member *m = user;
	m->options.callbacks->fill(m->options.user, report);
}

static void turn(struct member *m)
{
	claims_turn(m->claims);
	/* It joins when the registry is known to be its fleet's. */
	if (m->nodes && (m->agreed || (m->reported && !m->refused)))
		nodes_turn(m->nodes);
	else if (m->nodes)
		nodes_answer_late(m->nodes);
}

/* Errors are not handled: on_tick() asks again. */
static void on_secret(void *user, const struct bucket_answer *a);

static void ask_secret(struct member *m)
{
	m->asking = bucket_get(nats_store_registry(m->store), SECRET_KEY, on_secret, m) == 0;
}

static void on_secret_written(void *user, const struct bucket_answer *a)
{
	struct member *m = user;
	m->asking = false;
	if (a->error == 0 || a->error == -EEXIST)
		ask_secret(m);
}

/* The registry is a new one: propose a secret. */
static void propose_secret(struct member *m)
{
	char made[MEMBER_SECRET_SIZE];
	const char *secret = m->secret;
	if (!*secret && id_hex(made, sizeof made) < 0)
		return;
	m->asking = bucket_put(nats_store_registry(m->store), SECRET_KEY, *secret ? secret : made,
			    BUCKET_ABSENT, on_secret_written, m) == 0;
}

static void on_secret(void *user, const struct bucket_answer *a)
{
	struct member *m = user;
	m->asking = false;
	if (a->error == -ENOENT)
		propose_secret(m);
	if (a->error < 0)
		return;
	if (m->secret[0] ? strcmp(a->value, m->secret) != 0 : a->length != MEMBER_SECRET_SIZE - 1) {
		conclude(m, -EPERM);
		return;
	}
	if (!m->secret[0]) {
		memcpy(m->secret, a->value, MEMBER_SECRET_SIZE);
		/* Without the file the next start needs the registry. */
		(void)save_identity(m);
	}
	m->agreed = true;
	claims_check(m->claims);
	turn(m);
}

static void on_tick(uv_timer_t *timer)
{
	struct member *m = timer->data;
	if (m->refused)
		return;
	if (m->connected && !m->agreed && !m->asking)
		ask_secret(m);
	turn(m);
}

static void on_changed(void *user, bool connected, const char *reason)
{
	struct member *m = user;
	m->connected = connected;
	m->agreed &= connected; /* it may be another registry next time */
	m->options.callbacks->changed(m->options.user, connected, reason);
	if (connected)
		on_tick(&m->tick);
}

/* Objects */

/* Look at what has changed in this turn of the loop. */
static void on_due(uv_timer_t *timer)
{
	struct member *m = timer->data;
	struct leaver *l;
	while ((l = m->leavers)) {
		LL_DELETE(m->leavers, l);
		if (!m->options.callbacks->exists(m->options.user, &l->object))
			claims_end(m->claims, &l->object);
		free(l);
	}
	claims_turn(m->claims);
}

void member_add(struct member *m, enum object_kind kind, const char *id)
{
	const struct object_id o = object_id_of(kind, id);
	if (claims_have(m->claims, &o))
		return;
	claims_adopt(m->claims, &o);
	uv_timer_start(&m->due, on_due, 0, 0);
}

void member_remove(struct member *m, enum object_kind kind, const char *id)
{
	struct leaver *l = malloc(sizeof *l);
	if (!l) /* the next check finds it */
		return;
	l->object = object_id_of(kind, id);
	LL_PREPEND(m->leavers, l);
	uv_timer_start(&m->due, on_due, 0, 0);
}

/* Opening and closing */

static int open_parts(struct member *m)
{
	const struct member_options *o = &m->options;
	struct claims_options claims = {.bucket = nats_store_registry(m->store),
		.node = o->node,
		.forgotten = o->callbacks->forgotten,
		.conflict = o->callbacks->conflict,
		.now_ms = now_ms,
		.user = o->user};
	m->claims = claims_open(&claims);
	m->places = places_open(nats_store_registry(m->store));
	return m->claims && m->places ? 0 : -ENOMEM;
}

int member_open(const struct member_options *options, struct member **ret_member)
{
	struct member *m = calloc(1, sizeof *m);
	if (!m)
		return -ENOMEM;
	m->options = *options;
	struct nats_options store = {.loop = options->loop,
		.servers = options->servers,
		.creds = options->creds,
		.name = options->node,
		.ttl_ms = NODES_LIFE_MS,
		.changed = on_changed,
		.user = m};
	int rc = load_identity(m);
	if (rc == 0)
		rc = nats_store_open(&store, &m->store);
	if (rc < 0) {
		free(m);
		return rc;
	}
	uv_timer_init(options->loop, &m->tick);
	uv_timer_init(options->loop, &m->due);
	m->tick.data = m->due.data = m;
	uv_timer_start(&m->tick, on_tick, TICK_MS, TICK_MS);
	rc = open_parts(m);
	*ret_member = m;
	return rc;
}

void member_close(struct member *m)
{
	if (!m)
		return;
	uv_close((uv_handle_t *)&m->tick, NULL);
	uv_close((uv_handle_t *)&m->due, NULL);
	nats_store_close(m->store);
	m->connected = false;
}

void member_free(struct member *m)
{
	struct leaver *l;
	if (!m)
		return;
	while ((l = m->leavers)) {
		LL_DELETE(m->leavers, l);
		free(l);
	}
	nodes_close(m->nodes);
	claims_close(m->claims);
	places_close(m->places);
	OPENSSL_cleanse(m->secret, sizeof m->secret);
	free(m);
}

const char *member_secret(const struct member *m)
{
	return m->secret;
}

int member_join(struct member *m, const char *url)
{
	const struct member_options *o = &m->options;
	struct nodes_options options = {.registry = nats_store_registry(m->store),
		.reports = nats_store_reports(m->store),
		.name = o->node,
		.url = url,
		.version = o->version,
		.instance = m->instance,
		.fill = fill_report,
		.joined = on_joined,
		.now_ms = now_ms,
		.user = m};
	m->nodes = nodes_open(&options);
	if (!m->nodes)
		return -ENOMEM;
	turn(m);
	return 0;
}

void member_leave(struct member *m)
{
	if (m->nodes && m->reported && !m->refused)
		nodes_leave(m->nodes);
}

bool member_is_connected(const struct member *m)
{
	return m->connected && m->agreed;
}

struct bucket *member_registry(const struct member *m)
{
	return nats_store_registry(m->store);
}

struct claims *member_claims(const struct member *m)
{
	return m->claims;
}

struct places *member_places(const struct member *m)
{
	return m->places;
}

struct nodes *member_nodes(const struct member *m)
{
	return m->nodes;
}
