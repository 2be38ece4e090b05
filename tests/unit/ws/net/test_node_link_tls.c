/* Links to nodes with TLS: a server on a thread, with certificates made by openssl(1). */
#include "tests/lib/folder.h"
#include "tests/lib/node_client.h"

#include <netinet/in.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define LARGE ((uint64_t)10 << 20)
#define PAUSED_MS 300

/* The server: it accepts one connection after the other, and sends LARGE bytes of the pattern to each. */
static struct {
	struct folder folder;
	pthread_t thread;
	int fd;
	int port;
	SSL_CTX *context;
} tls;

static void make_certificate(const char *name, const char *names)
{
	char command[1024];
	snprintf(command, sizeof command,
		"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 "
		"-subj /CN=%s -addext subjectAltName=%s -keyout %s/%s.key -out %s/%s.pem 2>/dev/null",
		name, names, tls.folder.path, name, tls.folder.path, name);
	cr_assert_eq(system(command), 0, "%s", command);
}

static const char *certificate(const char *name)
{
	static char path[512];
	snprintf(path, sizeof path, "%s/%s.pem", tls.folder.path, name);
	return path;
}

/* Read a request, and write the answer. Returns whether that was possible. */
static bool shake_hands(SSL *ssl)
{
	struct ws_peer_conn *c = calloc(1, sizeof *c);
	char answer[256];
	int n;
	cr_assert_not_null(c);
	while (!strstr(c->head, "\r\n\r\n") &&
		(n = SSL_read(ssl, c->head + c->head_length, 4096)) > 0)
		c->head_length += (size_t)n;
	bool asked = strstr(c->head, "\r\n\r\n") != NULL;
	n = asked ? ws_peer_answer(c, answer, sizeof answer) : 0;
	free(c);
	return asked && SSL_write(ssl, answer, n) == n;
}

static void serve(SSL *ssl)
{
	static unsigned char frame[16394];
	char rest[256];
	uint64_t sent = 0;
	if (SSL_accept(ssl) != 1 || !shake_hands(ssl))
		return;
	for (size_t length = 16384; sent < LARGE; sent += length) {
		size_t head = ws_peer_head(frame, WS_PEER_FIN | WS_BINARY, length);
		for (size_t i = 0; i < length; i++)
			frame[head + i] = ws_peer_pattern(sent + i);
		if (SSL_write(ssl, frame, (int)(head + length)) <= 0)
			return;
	}
	(void)SSL_read(ssl, rest, sizeof rest); /* the close frame */
}

static void *run(void *user)
{
	int fd;
	while ((fd = accept(tls.fd, NULL, NULL)) >= 0) {
		SSL *ssl = SSL_new(tls.context);
		SSL_set_fd(ssl, fd);
		serve(ssl);
		SSL_free(ssl);
		close(fd);
	}
	return user;
}

/* Start the server with a certificate. */
static void start(const char *name)
{
	struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
	socklen_t length = sizeof address;
	char key[512];
	snprintf(key, sizeof key, "%s/%s.key", tls.folder.path, name);
	tls.context = SSL_CTX_new(TLS_server_method());
	cr_assert_eq(SSL_CTX_use_certificate_chain_file(tls.context, certificate(name)), 1);
	cr_assert_eq(SSL_CTX_use_PrivateKey_file(tls.context, key, SSL_FILETYPE_PEM), 1);
	tls.fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0); /* of both families */
	cr_assert_eq(bind(tls.fd, (struct sockaddr *)&address, sizeof address), 0);
	cr_assert_eq(listen(tls.fd, 8), 0);
	getsockname(tls.fd, (struct sockaddr *)&address, &length);
	tls.port = ntohs(address.sin6_port);
	cr_assert_eq(pthread_create(&tls.thread, NULL, run, NULL), 0);
}

static void open_folder(void)
{
	folder_make(&tls.folder);
	make_certificate("good", "IP:127.0.0.1,IP:::1,DNS:localhost");
	make_certificate("other", "IP:127.0.0.2,IP:::2,DNS:other");
}

static void close_all(void)
{
	node_close();
	shutdown(tls.fd, SHUT_RDWR);
	pthread_join(tls.thread, NULL);
	close(tls.fd);
	SSL_CTX_free(tls.context);
	folder_remove(&tls.folder);
}

TestSuite(node_link_tls, .init = open_folder, .fini = close_all, .timeout = 60);

static struct node_client *client_of(const char *host)
{
	char url[128];
	snprintf(url, sizeof url, "https://%s:%d", host, tls.port);
	return client_open_at(0, url, "/ws/pty");
}

static void check_accepted(const char *host)
{
	struct node_client *c = client_of(host);
	RUN_UNTIL(c->received > 0 || c->closed);
	cr_assert_eq(c->closed, 0, "%s: %s", host, c->reason);
	client_end(c);
}

static void check_refused(const char *host)
{
	struct node_client *c = client_of(host);
	RUN_UNTIL(c->closed || c->received > 0);
	cr_assert_eq(c->closed, 1001, "%s", host);
	cr_assert_not_null(strstr(c->text, "NODE_UNREACHABLE"));
	client_end(c);
}

Test(node_link_tls, trusted_certificate_is_accepted)
{
	start("good");
	node_open(certificate("good"));
	check_accepted("127.0.0.1");
	check_accepted("localhost");
	check_accepted("[::1]");
}

Test(node_link_tls, unknown_certificate_is_refused)
{
	start("good");
	node_open(certificate("other"));
	check_refused("127.0.0.1");
	check_refused("localhost");
	check_refused("[::1]");
}

Test(node_link_tls, system_does_not_trust_the_certificate)
{
	start("good");
	node_open(NULL);
	check_refused("127.0.0.1");
}

Test(node_link_tls, certificate_of_another_host_is_refused)
{
	start("other");
	node_open(certificate("other"));
	check_refused("127.0.0.1");
	check_refused("localhost");
	check_refused("[::1]");
}

Test(node_link_tls, node_without_tls_is_refused)
{
	start("good");
	node_open(certificate("good"));
	char url[128];
	snprintf(url, sizeof url, "https%s", peer.url + 4);
	struct node_client *c = client_open_at(0, url, "/ws/pty");
	RUN_UNTIL(peer.count == 1 && peer.conns[0]->head_length == 0);
	ws_peer_send(peer.conns[0], "HTTP/1.1 400 x\r\n\r\n", 18);
	RUN_UNTIL(c->closed == 1001);
}

Test(node_link_tls, slow_client_gets_all)
{
	start("good");
	node_open(certificate("good"));
	struct node_client *c = client_of("127.0.0.1");
	for (uint64_t at = 0; at < LARGE; at = c->received) {
		c->room = 9000;
		RUN_UNTIL(c->received >= at + LARGE / 4 || c->received == LARGE);
		c->room = 0;
		/* The loop does not spin meanwhile: the timer runs it every 5 ms. */
		unsigned turns = 0;
		for (long long end = until_now_ms() + PAUSED_MS; until_now_ms() < end; turns++)
			node_turn();
		cr_assert_lt(turns, PAUSED_MS / 5 * 3);
	}
	cr_assert_not(c->differs);
	cr_assert_eq(c->closed, 0);
}
