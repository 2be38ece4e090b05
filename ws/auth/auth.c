/*
 * The Authorization header decides if there is one, otherwise the cookie. Wrong tokens in a header or at the login are
 * counted and limited for each peer. An invalid cookie is not counted, because it is no attempt to guess.
 *
 * Over TLS the cookie has the prefix __Host-, so browsers accept it only over TLS and from this host (RFC 6265bis).
 */
#include "ws/auth/auth.h"

#include "shell/clock.h"
#include "shell/id.h"
#include "shell/store/file.h"
#include "ws/auth/fleet_cookie.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define TOKEN_BYTES 32u
#define NO_SESSION "." /* is no id */

/* Write TOKEN_BYTES bytes in base64url. */
static void encode(const unsigned char *bytes, char *text, size_t size)
{
	char encoded[TOKEN_BYTES * 2];
	EVP_EncodeBlock((unsigned char *)encoded, bytes, TOKEN_BYTES);
	encoded[strcspn(encoded, "=")] = '\0';
	for (char *p = encoded; *p; p++)
		*p = *p == '+' ? '-' : *p == '/' ? '_' : *p;
	snprintf(text, size, "%s", encoded);
}

/* Load a secret of the runtime directory, or make one of TOKEN_BYTES random bytes in base64url. */
static int load_or_make(int dir_fd, const char *name, char *text, size_t size)
{
	unsigned char bytes[TOKEN_BYTES];
	char *stored;
	size_t length;
	int rc = file_load(dir_fd, name, size - 1, &stored, &length);
	if (rc == 0) {
		stored[strcspn(stored, "\r\n")] = '\0';
		snprintf(text, size, "%s", stored);
		free(stored);
		if (strlen(text) >= AUTH_TOKEN_MIN)
			return 0;
	} else if (rc != -ENOENT) {
		return rc;
	}
	rc = id_random(bytes, sizeof bytes);
	if (rc < 0)
		return rc;
	encode(bytes, text, size);
	return file_save(dir_fd, name, text, strlen(text));
}

/* Read the token from --token-file. */
static int read_token_file(struct auth *a, const char *path)
{
	char *text;
	size_t length;
	int rc = file_load(AT_FDCWD, path, AUTH_TOKEN_MAX + 2, &text, &length);
	if (rc < 0)
		return rc == -EFBIG ? -EINVAL : rc;
	text[strcspn(text, "\r\n")] = '\0';
	bool fits = strlen(text) <= AUTH_TOKEN_MAX;
	snprintf(a->token, sizeof a->token, "%s", fits ? text : "");
	OPENSSL_cleanse(text, length);
	free(text);
	return fits ? 0 : -EINVAL;
}

/* HMAC-SHA256(key, text) */
static void digest_text(
	const unsigned char *key, const char *text, unsigned char digest[EVP_MAX_MD_SIZE])
{
	unsigned length = EVP_MAX_MD_SIZE;
	HMAC(EVP_sha256(), key, (int)LINKS_KEY_SIZE, (const unsigned char *)text, strlen(text),
		digest, &length);
}

/* The token of a fleet. It is written to the file, where programs of this machine find it. */
static int derive_token(struct auth *a, const unsigned char key[LINKS_KEY_SIZE])
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	digest_text(key, "token of the owner", digest);
	encode(digest, a->token, sizeof a->token);
	return file_save(a->dir_fd, "token", a->token, strlen(a->token));
}

static int choose_token(
	struct auth *a, const struct auth_options *o, const unsigned char key[LINKS_KEY_SIZE])
{
	int rc = 0;
	if (o->token_file)
		rc = read_token_file(a, o->token_file);
	else if (o->token && strlen(o->token) <= AUTH_TOKEN_MAX)
		snprintf(a->token, sizeof a->token, "%s", o->token);
	else if (o->secret)
		return derive_token(a, key);
	else if (!o->token)
		return load_or_make(a->dir_fd, "token", a->token, sizeof a->token);
	/* A header cannot carry other bytes. */
	bool good = strlen(a->token) >= AUTH_TOKEN_MIN;
	for (const char *p = a->token; *p; p++)
		good = good && *p > ' ' && *p < 0x7f;
	return rc < 0 ? rc : good ? 0 : -EINVAL;
}

/* Hex of the first n bytes of digest_text(). */
static void fingerprint(const unsigned char *key, const char *text, char *hex, unsigned n)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	digest_text(key, text, digest);
	for (unsigned i = 0; i < n; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

int auth_check_token_file(const char *path)
{
	struct auth a = {.dir_fd = -1};
	int rc = choose_token(&a, &(struct auth_options){.token_file = path}, NULL);
	OPENSSL_cleanse(a.token, sizeof a.token);
	return rc;
}

int auth_open(struct auth *a, const struct auth_options *o)
{
	char secret[128] = "";
	unsigned char key[EVP_MAX_MD_SIZE];
	int rc = 0;
	*a = (struct auth){.open = o->open};
	a->dir_fd = open(o->runtime_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (a->dir_fd < 0)
		return -errno;
	if (o->secret)
		snprintf(secret, sizeof secret, "%s", o->secret);
	else
		rc = load_or_make(a->dir_fd, "key", secret, sizeof secret);
	EVP_Digest(secret, strlen(secret), key, NULL, EVP_sha256(), NULL);
	OPENSSL_cleanse(secret, sizeof secret);
	if (rc == 0)
		rc = choose_token(a, o, key);
	if (rc == 0)
		rc = links_open(&a->links, o->loop, a->dir_fd, key);
	snprintf(a->node, sizeof a->node, "%s", o->node ? o->node : "");
	snprintf(a->links.node, sizeof a->links.node, "%s", a->node);
	if (rc == 0) {
		rc = logins_open(&a->logins, o->loop, a->dir_fd);
		if (rc < 0)
			links_close(&a->links);
	}
	if (rc < 0) {
		close(a->dir_fd);
		return rc;
	}
	char name[9];
	fingerprint(key, a->token, a->fingerprint, 16);
	fingerprint(key, "cookie", name, 4);
	/* Cookies ignore ports, so the servers of one host need different names. */
	snprintf(a->cookie, sizeof a->cookie, "ringside-%s", name);
	return 0;
}

void auth_derive(const struct auth *a, const char *purpose, unsigned char key[AUTH_KEY_SIZE])
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	digest_text(a->links.key, purpose, digest);
	memcpy(key, digest, AUTH_KEY_SIZE);
}

void auth_close(struct auth *a)
{
	links_close(&a->links);
	logins_close(&a->logins);
	ended_logins_finish(&a->ended);
	OPENSSL_cleanse(a->token, sizeof a->token);
	close(a->dir_fd);
}

bool auth_find_cookie(const char *header, const char *name, char *value, size_t size)
{
	size_t name_length = strlen(name);
	for (const char *p = header; *p;) {
		p += strspn(p, "; \t");
		size_t length = strcspn(p, ";");
		if (length > name_length && strncmp(p, name, name_length) == 0 &&
			p[name_length] == '=') {
			size_t n = length - name_length - 1;
			if (n >= size)
				return false;
			memcpy(value, p + name_length + 1, n);
			value[n] = '\0';
			return true;
		}
		p += length;
	}
	return false;
}

/* Compare in constant time, by digests, so that neither content nor length of the token leaks. */
static bool is_token(const struct auth *a, const char *text)
{
	unsigned char mine[EVP_MAX_MD_SIZE], theirs[EVP_MAX_MD_SIZE];
	EVP_Digest(a->token, strlen(a->token), mine, NULL, EVP_sha256(), NULL);
	EVP_Digest(text, strlen(text), theirs, NULL, EVP_sha256(), NULL);
	return CRYPTO_memcmp(mine, theirs, 32) == 0;
}

static void fill_link(const struct link_entry *e, struct principal *p)
{
	*p = (struct principal){.role = e->role,
		.epoch = e->epoch,
		.expires_ms = e->expires_ms,
		.answers = e->answers,
		.prompt = e->prompt};
	snprintf(p->session, sizeof p->session, "%s", e->session);
	snprintf(p->link, sizeof p->link, "%s", e->id);
}

static bool check_link(const struct auth *a, const char *token, struct principal *p)
{
	uint64_t now_ms = clock_wall_ms();
	const struct link_entry *e = links_check(&a->links, token, now_ms);
	if (e) {
		fill_link(e, p);
		return true;
	}
	struct principal other = {.role = ROLE_VIEWER, .session = NO_SESSION};
	if (!links_read_other(&a->links, token, now_ms, other.link, other.node))
		return false;
	*p = other;
	return true;
}

bool auth_is_elsewhere(const struct auth *a, const char *token, char ret_node[AUTH_NODE_SIZE])
{
	char id[LINK_ID_SIZE];
	return links_read_other(&a->links, token, clock_wall_ms(), id, ret_node);
}

bool auth_of_link(struct auth *a, const char *id, bool terminal, struct principal *p)
{
	const struct link_entry *e = links_find(&a->links, id);
	if (!e || e->expires_ms <= clock_wall_ms() || e->spent)
		return false;
	fill_link(e, p);
	if (p->answers && terminal)
		links_mark_used(&a->links, id);
	return !p->answers || terminal;
}

/* Write the name of a link's cookie; link "": the owner's. */
static void name_cookie(
	const struct auth *a, const char *link, bool secure, char name[AUTH_COOKIE_NAME_SIZE])
{
	snprintf(name, AUTH_COOKIE_NAME_SIZE, "%s%s%s%.32s", secure ? "__Host-" : "", a->cookie,
		link[0] ? "-" : "", link);
}

/* Get the principal of a login. Returns false if its token or link is not valid any more. */
static bool check_login(const struct auth *a, const struct login_entry *e, struct principal *p)
{
	if (!e->link[0]) {
		*p = (struct principal){.role = ROLE_OWNER, .expires_ms = e->expires_ms};
		return strcmp(e->owner, a->fingerprint) == 0;
	}
	const struct link_entry *link = links_find(&a->links, e->link);
	if (!link || link->expires_ms <= clock_wall_ms())
		return false;
	fill_link(link, p);
	return true;
}

bool auth_of_login(struct auth *a, const char *id, struct principal *p)
{
	const struct login_entry *e = logins_find(&a->logins, id);
	if (!e || e->expires_ms <= clock_wall_ms() || !check_login(a, e, p))
		return false;
	snprintf(p->login, sizeof p->login, "%s", e->id);
	return true;
}

/* Get the principal of a cookie that another node has issued. */
static bool check_other_cookie(
	const struct auth *a, const struct fleet_cookie *c, const char *link, struct principal *p)
{
	*p = (struct principal){.role = ROLE_OWNER, .expires_ms = c->expires_s * 1000};
	snprintf(p->login, sizeof p->login, "%s", c->id);
	p->login_elsewhere = !*link;
	if (!*link)
		return !ended_logins_have(&a->ended, c->id);
	p->role = ROLE_VIEWER;
	snprintf(p->session, sizeof p->session, "%s", NO_SESSION);
	snprintf(p->link, sizeof p->link, "%s", link);
	snprintf(p->node, sizeof p->node, "%s", c->node);
	return true;
}

static bool check_cookie(struct auth *a, const struct credentials *c, struct principal *p)
{
	char name[AUTH_COOKIE_NAME_SIZE], value[FLEET_COOKIE_SIZE];
	const char *link = c->link ? c->link : "";
	struct principal found;
	struct fleet_cookie fleet;
	name_cookie(a, link, c->secure, name);
	if (!auth_find_cookie(c->cookie, name, value, sizeof value))
		return false;
	if (a->node[0]) {
		if (!fleet_cookie_read(value, *link ? link : a->fingerprint, a->links.key,
			    clock_wall_ms() / 1000, &fleet))
			return false;
		if (strcmp(fleet.node, a->node) != 0)
			return check_other_cookie(a, &fleet, link, p);
		memcpy(value, fleet.value, sizeof fleet.value);
	}
	const struct login_entry *e = logins_use(&a->logins, value, clock_wall_ms());
	if (!e || strcmp(e->link, link) != 0 || !check_login(a, e, &found))
		return false;
	*p = found;
	snprintf(p->login, sizeof p->login, "%s", e->id);
	return true;
}

bool auth_is_current(const struct auth *a, const struct principal *p, uint64_t now_ms)
{
	if (p->expires_ms > 0 && p->expires_ms <= now_ms)
		return false;
	if (p->node[0]) /* that node knows */
		return true;
	if (p->link[0] && !links_find(&a->links, p->link))
		return false;
	return !p->login[0] ||
		(p->login_elsewhere ? !ended_logins_have(&a->ended, p->login)
				    : logins_find(&a->logins, p->login) != NULL);
}

uint64_t auth_revoked(const struct auth *a)
{
	return a->links.removed + a->logins.removed + a->ended.changes;
}

bool auth_header_is_valid(const struct auth *a, const char *authorization)
{
	struct principal p;
	/* More lenient than auth_check(), because this keeps credentials from leaking to other programs. */
	if (strncasecmp(authorization, "Bearer", 6) != 0)
		return false;
	const char *token = authorization + 6 + strspn(authorization + 6, " \t");
	return is_token(a, token) || check_link(a, token, &p);
}

static bool check_bearer(struct auth *a, const struct credentials *c, struct principal *p)
{
	if (strncasecmp(c->authorization, "Bearer ", 7) != 0)
		return false;
	const char *token = c->authorization + 7;
	if (is_token(a, token)) {
		*p = (struct principal){.role = ROLE_OWNER};
		return true;
	}
	if (!check_link(a, token, p))
		return false;
	if (p->answers && c->terminal)
		links_mark_used(&a->links, p->link);
	return !p->answers || c->terminal;
}

static enum auth_result count_failure(struct auth *a, const char *peer)
{
	return limiter_fail(&a->limiter, peer, clock_monotonic_ms()) ? AUTH_LIMITED : AUTH_WRONG;
}

enum auth_result auth_check(
	struct auth *a, const struct credentials *c, struct principal *ret_principal)
{
	struct principal p = {.role = ROLE_OWNER};
	if (c->authorization) {
		if (!check_bearer(a, c, &p)) {
			if (!a->open)
				return count_failure(a, c->peer);
			p = (struct principal){.role = ROLE_OWNER};
		}
	} else if (c->cookie && check_cookie(a, c, &p)) {
		p.by_cookie = true;
	} else if (!a->open && !c->owner) {
		/* A cookie of another server, or an expired one, is no attempt to guess. */
		return AUTH_MISSING;
	}
	*ret_principal = p;
	return AUTH_OK;
}

_Static_assert(NAME_AUTHOR_MAX >= sizeof "viewer/" + LINK_ID_SIZE, "a role and a link");

void auth_author(const struct principal *p, char author[NAME_AUTHOR_MAX + 1])
{
	snprintf(author, NAME_AUTHOR_MAX + 1, "%s%s%s", role_name(p->role), p->link[0] ? "/" : "",
		p->link);
}

enum role auth_shown_role(const struct principal *p)
{
	return p->answers ? ROLE_DRIVER : p->role;
}

bool auth_may_see(const struct principal *p, const char *session, uint64_t epoch)
{
	return !p->session[0] || (strcmp(p->session, session) == 0 && p->epoch == epoch);
}

/* Remove the login that the request came with, if it is for the same token or link; e inherits its id. */
static void replace_login(struct auth *a, const struct principal *before, struct login_entry *e)
{
	if (!before || !before->login[0] || strcmp(before->link, e->link) != 0)
		return;
	if (before->login_elsewhere)
		auth_end_login(a, before->login, before->expires_ms);
	/* In a fleet an id that has ended stays so. */
	if (logins_remove(&a->logins, before->login) && !a->node[0])
		snprintf(e->id, sizeof e->id, "%s", before->login);
}

/* Write the value of a cookie: in a fleet, so that every node can check it. */
static void sign_value(const struct auth *a, const struct login_entry *e, const char *value,
	char ret_value[FLEET_COOKIE_SIZE])
{
	struct fleet_cookie c = {.expires_s = (e->expires_ms + 999) / 1000};
	snprintf(c.value, sizeof c.value, "%s", value);
	snprintf(c.node, sizeof c.node, "%s", a->node);
	if (a->node[0])
		fleet_cookie_write(
			&c, e->link[0] ? e->link : a->fingerprint, a->links.key, ret_value);
	else
		snprintf(ret_value, FLEET_COOKIE_SIZE, "%s", value);
}

enum auth_result auth_login(struct auth *a, const struct auth_request *r,
	struct principal *ret_principal, char cookie[AUTH_COOKIE_SIZE])
{
	struct principal p = {.role = ROLE_OWNER};
	uint64_t now = clock_wall_ms();
	char name[AUTH_COOKIE_NAME_SIZE], value[LOGIN_VALUE_SIZE], whole[FLEET_COOKIE_SIZE];
	struct login_entry terms = {.created_ms = now,
		.expires_ms = now + (uint64_t)AUTH_COOKIE_DAYS * 24 * 3600 * 1000};
	if (check_link(a, r->token, &p)) {
		if (p.node[0]) /* that node has to log in */
			return AUTH_WRONG;
		links_mark_used(&a->links, p.link);
		terms.expires_ms = p.expires_ms;
	} else if (is_token(a, r->token)) {
		p.expires_ms = terms.expires_ms;
	} else {
		return count_failure(a, r->peer);
	}
	snprintf(terms.link, sizeof terms.link, "%s", p.link);
	snprintf(terms.owner, sizeof terms.owner, "%s", p.link[0] ? "" : a->fingerprint);
	snprintf(terms.peer, sizeof terms.peer, "%s", r->peer);
	snprintf(terms.agent, sizeof terms.agent, "%s", r->agent);
	replace_login(a, r->before, &terms);
	const struct login_entry *e = logins_add(&a->logins, &terms, value);
	if (!e)
		return AUTH_WRONG;
	name_cookie(a, p.link, r->secure, name);
	sign_value(a, e, value, whole);
	snprintf(cookie, AUTH_COOKIE_SIZE,
		"%s=%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=%llu%s", name, whole,
		(unsigned long long)((e->expires_ms - now) / 1000), r->secure ? "; Secure" : "");
	snprintf(p.login, sizeof p.login, "%s", e->id);
	p.by_cookie = true;
	*ret_principal = p;
	return AUTH_OK;
}

bool auth_logout(
	struct auth *a, const struct principal *p, bool secure, char cookie[AUTH_COOKIE_SIZE])
{
	char name[AUTH_COOKIE_NAME_SIZE];
	name_cookie(a, p->link, secure, name);
	snprintf(cookie, AUTH_COOKIE_SIZE, "%s=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0%s",
		name, secure ? "; Secure" : "");
	if (p->login_elsewhere)
		auth_end_login(a, p->login, p->expires_ms);
	return p->login[0] && (p->login_elsewhere || logins_remove(&a->logins, p->login));
}

void auth_end_login(struct auth *a, const char *id, uint64_t expires_ms)
{
	(void)ended_logins_add(&a->ended, id, expires_ms, clock_wall_ms());
}

void auth_learn_ended(struct auth *a, const char *id, uint64_t expires_ms)
{
	struct ended_login *e = ended_logins_add(&a->ended, id, expires_ms, clock_wall_ms());
	if (e)
		e->published = true;
	/* It may have been issued here, and ended at another node. */
	if (logins_remove(&a->logins, id))
		logins_store(&a->logins, NULL, NULL);
}

void auth_prune(struct auth *a)
{
	struct logins *l = &a->logins;
	struct principal p;
	logins_expire(l, clock_wall_ms());
	for (size_t i = l->count; i-- > 0;)
		if (!check_login(a, &l->entries[i], &p))
			logins_remove(l, l->entries[i].id);
}
