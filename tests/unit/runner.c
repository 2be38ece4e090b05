/*
 * Each test program changes Criterion in two ways. It fails for what Criterion reports and does not count: a failed assert or
 * a crash in .fini, and leaks, which LeakSanitizer finds when the process of a test ends. And it does not read the CA
 * certificates, as libgit2 does when Criterion loads it, which takes a third of the time of a short test.
 */
#include <criterion/criterion.h>
#include <criterion/hooks.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Path of the file to which a process that leaks appends a byte. */
#define LEAKS_ENV "RINGSIDE_TEST_LEAKS"

/* Of sanitizer/common_interface_defs.h; NULL without a sanitizer. */
__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)(void));

/* Of mbedtls/x509_crt.h; exported to libgit2. */
int mbedtls_x509_crt_parse_file(void *chain, const char *path);
int mbedtls_x509_crt_parse_path(void *chain, const char *path);

static unsigned begun, ended; /* tests */
static int leaks_fd = -1;

static bool is_test(void)
{
	return getenv("BXFI_MAP") != NULL; /* BoxFort sets it in the processes of the tests */
}

/*
 * LeakSanitizer calls this when a process ends, see lsan_interface.h. The runner itself is not checked: Criterion loses
 * 48 bytes at times.
 */
int __lsan_is_turned_off(void);

int __lsan_is_turned_off(void)
{
	return !is_test();
}

int mbedtls_x509_crt_parse_file(void *chain, const char *path)
{
	(void)chain;
	(void)path;
	return 0;
}

int mbedtls_x509_crt_parse_path(void *chain, const char *path)
{
	return mbedtls_x509_crt_parse_file(chain, path);
}

static void on_death(void)
{
	const char *path = getenv(LEAKS_ENV);
	int fd = path ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
	if (fd < 0)
		return;
	(void)!write(fd, "", 1);
	close(fd);
}

__attribute__((constructor)) static void set_up(void)
{
	char path[64];
	if (is_test()) {
		if (__sanitizer_set_death_callback)
			__sanitizer_set_death_callback(on_death);
		return;
	}
	leaks_fd = memfd_create("leaks", MFD_CLOEXEC);
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), leaks_fd);
	setenv(LEAKS_ENV, path, 1);
}

ReportHook(PRE_INIT)(struct criterion_test *test)
{
	(void)test;
	begun++;
}

ReportHook(POST_FINI)(struct criterion_test_stats *test)
{
	(void)test;
	ended++;
}

ReportHook(POST_ALL)(struct criterion_global_stats *all)
{
	struct stat leaks = {0};
	if (all->tests_failed > 0 || all->tests_crashed > 0)
		return;
	bool known = fstat(leaks_fd, &leaks) == 0;
	if (all->asserts_failed == 0 && begun == ended && known && leaks.st_size == 0)
		return;
	fprintf(stderr, "A teardown failed or memory was leaked: see above.\n");
	_exit(1);
}
