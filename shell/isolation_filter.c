/*
 * The list follows Flatpak, which also runs programs in bubblewrap: keys, mounts, namespaces, interfaces for other
 * kernels. ptrace(2) is allowed for debuggers: it cannot reach processes outside. Sockets are limited to those of the
 * network and local ones. New calls (clone3, open_tree ...) fail with ENOSYS, so that libc uses the old ones: a filter
 * can check their arguments, but not those behind a pointer.
 */
#include "shell/isolation_filter.h"

#include "pty/spawn.h"
#include "shell/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__riscv)
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#else
#error "no system call filter for this architecture"
#endif

#define X32 0x40000000u /* bit of the x32 system calls on x86-64 */
#define FIELD(name) ((uint32_t)offsetof(struct seccomp_data, name))
#define REFUSE(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (offset))
#define NEVER(name, error) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), REFUSE(error)

/* The lower half of an argument: ioctl(2) and clone(2) use only that. */
#define ARGUMENT(n) (FIELD(args) + 8u * (n))
#if defined(__s390x__)
#error "the lower half is the second one there"
#endif

static const struct sock_filter filter[] = {
	LOAD(FIELD(arch)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
	REFUSE(ENOSYS),
	LOAD(FIELD(nr)),
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32, 0, 1),
	REFUSE(ENOSYS),
	NEVER(syslog, EPERM),
	NEVER(acct, EPERM),
	NEVER(quotactl, EPERM),
	NEVER(add_key, EPERM),
	NEVER(keyctl, EPERM),
	NEVER(request_key, EPERM),
	NEVER(move_pages, EPERM),
	NEVER(mbind, EPERM),
	NEVER(get_mempolicy, EPERM),
	NEVER(set_mempolicy, EPERM),
	NEVER(migrate_pages, EPERM),
	NEVER(unshare, EPERM),
	NEVER(setns, EPERM),
	NEVER(mount, EPERM),
	NEVER(umount2, EPERM),
	NEVER(pivot_root, EPERM),
	NEVER(chroot, EPERM),
	NEVER(perf_event_open, EPERM),
	NEVER(bpf, EPERM),
	NEVER(userfaultfd, EPERM),
	NEVER(kexec_load, EPERM),
	NEVER(init_module, EPERM),
	NEVER(finit_module, EPERM),
	NEVER(open_by_handle_at, EPERM),
	NEVER(clone3, ENOSYS),
	NEVER(open_tree, ENOSYS),
	NEVER(move_mount, ENOSYS),
	NEVER(fsopen, ENOSYS),
	NEVER(fsconfig, ENOSYS),
	NEVER(fsmount, ENOSYS),
	NEVER(fspick, ENOSYS),
	NEVER(io_uring_setup, ENOSYS),
	/* Other socket families reach kernel drivers, or machines next to this one (vsock). */
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 1, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socketpair, 0, 7),
	LOAD(ARGUMENT(0)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 4, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 3, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 2, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 1, 0),
	REFUSE(EAFNOSUPPORT),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	/* Injecting input into a terminal, and pasting on the console. */
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 4),
	LOAD(ARGUMENT(1)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCSTI, 1, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCLINUX, 0, 5),
	REFUSE(EPERM),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
	LOAD(ARGUMENT(0)),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_NEWUSER, 0, 1),
	REFUSE(EPERM),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

int isolation_filter_make(void)
{
	int fd = spawn_move_fd_high(
		memfd_create("ringside-filter", MFD_CLOEXEC | MFD_ALLOW_SEALING));
	if (fd < 0)
		return fd;
	int rc = write_all(fd, filter, sizeof filter);
	if (rc == 0 &&
		fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_WRITE | F_SEAL_SEAL) < 0)
		rc = -errno;
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}
