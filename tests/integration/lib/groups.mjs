// A control group (cgroup v2) that a server may divide, if the test is root and the controllers are available.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const mount = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
	.find((line) => line.includes(' - cgroup2 '))?.split(' ')[4];

const read = (...names) => readFileSync(path.join(...names), 'utf8').trim();

function findReason() {
	if (process.getuid() !== 0) return 'only root may make control groups here';
	if (!mount) return 'cgroup v2 is not mounted';
	const there = read(mount, 'cgroup.controllers').split(' ');
	const missing = ['pids', 'memory'].filter((name) => !there.includes(name));
	if (missing.length) return `cgroup v2 has no controller ${missing.join(' and ')} here (cgroup v1 may have it)`;
	try {
		writeFileSync(path.join(mount, 'cgroup.subtree_control'), '+pids +memory');
	} catch (error) {
		return `the control groups cannot be divided: ${error.code}`;
	}
	return false;
}

/** false, or why there are no groups: the value for `skip`. */
export const noGroups = findReason();

let made = 0;

/** A group for a server; `prefix` runs a command in it. */
export class Group {
	constructor() {
		this.path = path.join(mount, `ringside-test-${process.pid}-${made++}`);
		mkdirSync(this.path);
		// If an earlier server has divided it, it may contain no processes itself.
		this.prefix = ['bash', '-c', 'for d in "$0/server" "$0"; do [ ! -d "$d" ] || break; done; echo $$ >"$d/cgroup.procs" && exec "$@"', this.path];
	}

	/** Its child groups with this prefix. */
	children(prefix) {
		return readdirSync(this.path).filter((name) => name.startsWith(prefix));
	}

	read(child, file) {
		return read(this.path, child, file);
	}

	/** Remove it when it has no processes. */
	remove() {
		for (const name of existsSync(this.path) ? readdirSync(this.path, { withFileTypes: true }) : [])
			if (name.isDirectory()) rmdirSync(path.join(this.path, name.name));
		rmdirSync(this.path);
	}
}
