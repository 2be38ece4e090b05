#include "shell/cluster/nats_call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUBJECT_SIZE (BUCKET_KEY_SIZE + 64u)
#define OPERATION "KV-Operation" /* header of markers: DEL, PURGE */
#define ANY_TRIES 5u             /* of removing a key whose revision changes */

int nats_call_error(natsStatus status)
{
	switch (status) {
	case NATS_OK:
		return 0;
	case NATS_NOT_FOUND:
		return -ENOENT;
	case NATS_NO_MEMORY:
		return -ENOMEM;
	/* Nothing was sent, or JetStream is not there. */
	case NATS_NOT_YET_CONNECTED:
	case NATS_INSUFFICIENT_BUFFER:
	case NATS_NO_RESPONDERS:
	case NATS_NO_SERVER:
	case NATS_NO_SERVER_SUPPORT:
	case NATS_NOT_PERMITTED:
		return -ENOTCONN;
	default:
		return -ETIMEDOUT;
	}
}

static void name_stream(const struct nats_stream *s, char name[64])
{
	snprintf(name, 64, "KV_%s", s->bucket);
}

static void name_subject(const struct nats_stream *s, const char *key, char subject[SUBJECT_SIZE])
{
	snprintf(subject, SUBJECT_SIZE, "$KV.%s.%s", s->bucket, key);
}

static natsStatus add_stream(
	struct nats_link *l, const struct nats_stream *s, unsigned replicas, jsErrCode *code)
{
	char name[64], subject[SUBJECT_SIZE];
	const char *subjects[] = {subject};
	jsStreamConfig config;
	jsStreamConfig_Init(&config);
	name_stream(s, name);
	name_subject(s, ">", subject);
	config.Name = name;
	config.Description = "Ringside";
	config.Subjects = subjects;
	config.SubjectsLen = 1;
	config.MaxMsgsPerSubject = 1;
	config.MaxMsgSize = BUCKET_VALUE_MAX + 1024;
	config.MaxAge = (int64_t)s->ttl_ms * 1000000;
	config.Storage = s->memory ? js_MemoryStorage : js_FileStorage;
	config.Discard = js_DiscardNew;
	config.Replicas = replicas;
	config.AllowRollup = config.AllowDirect = true;
	config.Duplicates = s->ttl_ms ? config.MaxAge : 0; /* at most the age */
	*code = 0;
	return js_AddStream(NULL, l->jetstream, &config, NULL, code);
}

/* Make the stream if it does not exist. Returns an error. */
static int require_stream(struct nats_link *l, struct nats_stream *s)
{
	jsErrCode code;
	natsStatus status = NATS_OK;
	if (atomic_load(&s->exists))
		return 0;
	pthread_mutex_lock(&s->lock);
	if (!atomic_load(&s->exists)) {
		status = add_stream(l, s, NATS_REPLICAS, &code);
		if (code == JSStreamReplicasNotSupportedErr || code == JSInsufficientResourcesErr ||
			code == JSClusterNoPeersErr)
			status = add_stream(l, s, 1, &code);
		/* It exists with other settings, such as other replicas: an administrator's. */
		if (code == JSStreamNameExistErr)
			status = NATS_OK;
		if (status == NATS_OK && !s->kv)
			status = js_KeyValue(&s->kv, l->jetstream, s->bucket);
		atomic_store(&s->exists, status == NATS_OK);
	}
	pthread_mutex_unlock(&s->lock);
	return status == NATS_OK || status == NATS_NO_MEMORY ? nats_call_error(status) : -ENOTCONN;
}

/* The result of a call. If the stream has gone, it is made again. */
static int conclude(struct nats_stream *s, natsStatus status, jsErrCode code)
{
	if (code == JSStreamWrongLastSequenceErr)
		return -EEXIST;
	if (code == JSNoMessageFoundErr)
		return -ENOENT;
	if (code == JSStreamNotFoundErr || status == NATS_NO_RESPONDERS) {
		atomic_store(&s->exists, false);
		return -ENOTCONN;
	}
	return nats_call_error(status);
}

/* Read the last message of a key. *ret_message: NULL, or for natsMsg_Destroy(). *ret_removed: it is a marker. */
static int read_last(struct nats_link *l, struct nats_stream *s, const char *key,
	natsMsg **ret_message, bool *ret_removed)
{
	char name[64], subject[SUBJECT_SIZE];
	const char *operation;
	jsErrCode code = 0;
	name_stream(s, name);
	name_subject(s, key, subject);
	*ret_message = NULL;
	natsStatus status = js_GetLastMsg(ret_message, l->jetstream, name, subject, NULL, &code);
	int rc = conclude(s, status, code);
	*ret_removed = rc == 0 && natsMsgHeader_Get(*ret_message, OPERATION, &operation) == NATS_OK;
	return rc;
}

int nats_call_get(struct nats_link *l, struct nats_stream *s, const char *key, char **ret_value,
	uint64_t *ret_revision)
{
	natsMsg *message;
	bool removed;
	int rc = require_stream(l, s);
	if (rc < 0)
		return rc;
	rc = read_last(l, s, key, &message, &removed);
	if (rc == 0 && removed)
		rc = -ENOENT;
	if (rc == 0) {
		*ret_revision = natsMsg_GetSequence(message);
		*ret_value = strndup(
			natsMsg_GetData(message), (size_t)natsMsg_GetDataLength(message));
		rc = *ret_value ? 0 : -ENOMEM;
	}
	natsMsg_Destroy(message);
	return rc;
}

/* Publish a value, or (NULL) a marker that the key is removed. */
static int publish(struct nats_link *l, struct nats_stream *s, const char *key, const char *value,
	uint64_t expected, uint64_t *ret_revision)
{
	char subject[SUBJECT_SIZE];
	natsMsg *message;
	jsPubOptions options;
	jsPubAck *ack = NULL;
	jsErrCode code = 0;
	jsPubOptions_Init(&options);
	options.MaxWait = NATS_CALL_MS;
	options.ExpectNoMessage = expected == BUCKET_ABSENT;
	options.ExpectLastSubjectSeq = expected == BUCKET_ANY ? 0 : expected;
	name_subject(s, key, subject);
	natsStatus status = natsMsg_Create(
		&message, subject, NULL, value, value ? (int)strlen(value) : 0);
	if (status != NATS_OK)
		return -ENOMEM;
	if (!value)
		status = natsMsgHeader_Set(message, OPERATION, "DEL");
	if (status == NATS_OK)
		status = js_PublishMsg(&ack, l->jetstream, message, &options, &code);
	natsMsg_Destroy(message);
	int rc = conclude(s, status, code);
	if (rc == 0)
		*ret_revision = ack->Sequence;
	jsPubAck_Destroy(ack);
	return rc;
}

int nats_call_put(struct nats_link *l, struct nats_stream *s, const char *key, const char *value,
	uint64_t expected, uint64_t *ret_revision)
{
	natsMsg *message;
	bool removed;
	int rc = require_stream(l, s);
	if (rc < 0)
		return rc;
	rc = publish(l, s, key, value, expected, ret_revision);
	if (rc != -EEXIST || expected != BUCKET_ABSENT)
		return rc;
	/* A marker may be left that the key was removed. */
	rc = read_last(l, s, key, &message, &removed);
	if (rc == 0)
		rc = removed ? publish(l, s, key, value, natsMsg_GetSequence(message), ret_revision)
			     : -EEXIST;
	natsMsg_Destroy(message);
	return rc == -ENOENT ? -EEXIST : rc;
}

/* Remove a key with a known revision. */
static int remove_revision(
	struct nats_link *l, struct nats_stream *s, const char *key, uint64_t revision)
{
	char name[64];
	uint64_t marker;
	int rc = publish(l, s, key, NULL, revision, &marker);
	/* Without the marker, keys that were used once take no space. Nothing depends on this. */
	name_stream(s, name);
	if (rc == 0)
		(void)js_DeleteMsg(l->jetstream, name, marker, NULL, NULL);
	return rc;
}

int nats_call_remove(struct nats_link *l, struct nats_stream *s, const char *key, uint64_t expected)
{
	natsMsg *message;
	bool removed;
	int rc = require_stream(l, s);
	if (rc == 0 && expected != BUCKET_ANY)
		rc = remove_revision(l, s, key, expected);
	if (rc < 0 && rc != -EEXIST)
		return rc;
	if (rc == 0 && expected != BUCKET_ANY)
		return 0;
	for (unsigned i = 0; i < ANY_TRIES; i++) {
		rc = read_last(l, s, key, &message, &removed);
		uint64_t revision = rc == 0 ? natsMsg_GetSequence(message) : 0;
		natsMsg_Destroy(message);
		if (rc < 0 || removed)
			return rc < 0 ? rc : -ENOENT;
		if (expected != BUCKET_ANY)
			return -EEXIST;
		rc = remove_revision(l, s, key, revision);
		if (rc != -EEXIST)
			return rc;
	}
	return rc;
}

static int add_entry(struct nats_list *list, kvEntry *e)
{
	if (list->count == list->size) {
		size_t size = list->size ? 2 * list->size : 64;
		struct bucket_entry *entries = realloc(list->entries, size * sizeof *entries);
		if (!entries)
			return -ENOMEM;
		list->entries = entries;
		list->size = size;
	}
	struct bucket_entry *entry = &list->entries[list->count];
	entry->key = strdup(kvEntry_Key(e));
	entry->length = (size_t)kvEntry_ValueLen(e);
	entry->value = kvEntry_Value(e) ? strndup(kvEntry_Value(e), entry->length) : strdup("");
	entry->revision = kvEntry_Revision(e);
	list->count++;
	return entry->key && entry->value ? 0 : -ENOMEM;
}

/* Read entries until the watcher has given all that existed. */
static int read_entries(kvWatcher *watcher, struct nats_list *list)
{
	for (;;) {
		kvEntry *e = NULL;
		natsStatus status = kvWatcher_Next(&e, watcher, NATS_CALL_MS);
		if (status != NATS_OK)
			return nats_call_error(status);
		if (!e)
			return 0;
		int rc = add_entry(list, e);
		kvEntry_Destroy(e);
		if (rc < 0)
			return rc;
	}
}

int nats_call_list(
	struct nats_link *l, struct nats_stream *s, const char *prefix, struct nats_list *ret)
{
	char keys[BUCKET_KEY_SIZE + 2];
	kvWatchOptions options;
	kvWatcher *watcher = NULL;
	struct nats_list list = {0};
	int rc = require_stream(l, s);
	if (rc < 0)
		return rc;
	kvWatchOptions_Init(&options);
	options.IgnoreDeletes = true;
	options.Timeout = NATS_CALL_MS;
	snprintf(keys, sizeof keys, "%s>", prefix);
	natsStatus status = kvStore_Watch(&watcher, s->kv, keys, &options);
	if (status == NATS_NOT_FOUND || status == NATS_NO_RESPONDERS) {
		/* The stream has gone. */
		atomic_store(&s->exists, false);
		status = NATS_NO_RESPONDERS;
	}
	rc = status == NATS_OK ? read_entries(watcher, &list) : nats_call_error(status);
	kvWatcher_Destroy(watcher);
	if (rc < 0)
		nats_list_finish(&list);
	else
		*ret = list;
	return rc;
}

void nats_list_finish(struct nats_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free((char *)list->entries[i].key);
		free((char *)list->entries[i].value);
	}
	free(list->entries);
	*list = (struct nats_list){0};
}
