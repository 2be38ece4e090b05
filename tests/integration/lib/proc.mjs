// Processes, from /proc.
import { closeSync, openSync, readFileSync, readSync, readdirSync, readlinkSync } from 'node:fs';
import { until } from './until.mjs';

const read = (path) => {
	try {
		return readFileSync(path, 'latin1');
	} catch {
		return '';
	}
};

const scratch = Buffer.allocUnsafeSlow(1 << 20);

/** The first MiB: a process can have an environment of a GiB. */
function beginning(path) {
	let fd;
	try {
		fd = openSync(path);
		return scratch.latin1Slice(0, readSync(fd, scratch));
	} catch {
		return '';
	} finally {
		if (fd !== undefined) closeSync(fd);
	}
}

export function allPids() {
	return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number);
}

export const cmdline = (pid) => read(`/proc/${pid}/cmdline`).split('\0').join(' ').trim();

/** Processes (without zombies) whose command line or environment contains `text`. */
export function processesNaming(text) {
	return allPids().filter((pid) => pid !== process.pid
		&& (read(`/proc/${pid}/cmdline`).includes(text)
			|| beginning(`/proc/${pid}/environ`).includes(text)));
}

export function status(pid) {
	const fields = {};
	for (const line of read(`/proc/${pid}/status`).split('\n')) {
		const colon = line.indexOf(':');
		if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).trim();
	}
	return fields;
}

export function isAlive(pid) {
	const state = status(pid).State;
	return state !== undefined && !/^[ZX]/.test(state);
}

export const parentOf = (pid) => Number(status(pid).PPid);

/** Stop a process, and wait until it is stopped. */
export async function stop(pid) {
	process.kill(pid, 'SIGSTOP');
	await until(`${pid} stopped`, () => status(pid).State.startsWith('T'));
}

/** All descendants of a process, as far as their parents still exist. */
export function descendants(pid) {
	const parents = new Map(allPids().map((each) => [each, parentOf(each)]));
	const isBelow = (each) => parents.has(each) && (parents.get(each) === pid || isBelow(parents.get(each)));
	return [...parents.keys()].filter(isBelow);
}

/** Anonymous resident memory in bytes. */
export const rssAnon = (pid) => parseInt(status(pid).RssAnon, 10) * 1024;

/** Clock ticks that a process has used. */
export function ticks(pid) {
	const fields = read(`/proc/${pid}/stat`).replace(/^.*\) /, '').split(' ');
	return Number(fields[11]) + Number(fields[12]);
}

export function descriptors(pid) {
	const found = {};
	for (const fd of readdirSync(`/proc/${pid}/fd`)) {
		try {
			found[fd] = readlinkSync(`/proc/${pid}/fd/${fd}`);
		} catch {
			// closed meanwhile
		}
	}
	return found;
}

export function kill(pid, signal = 'SIGKILL') {
	try {
		process.kill(pid, signal);
		return true;
	} catch (error) {
		if (error.code === 'ESRCH') return false;
		throw error;
	}
}
