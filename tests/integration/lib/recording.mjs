// Recordings, read from files as their README.md describes them: with zstd, not with our own reader.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

const types = ['', 'output', 'size', 'begin', 'end', 'gap', 'exit'];

const payloads = {
	output: (bytes) => ({ bytes }),
	size: (bytes) => ({ rows: bytes.readUInt16LE(0), cols: bytes.readUInt16LE(2) }),
	begin: (bytes) => ({ command: bytes.toString() }),
	end: (bytes) => ({ start: Number(bytes.readBigUInt64LE(0)), status: bytes.readInt32LE(8) }),
	gap: (bytes) => ({ lost: Number(bytes.readBigUInt64LE(0)) }),
	exit: (bytes) => ({ status: bytes.readInt32LE(0), known: bytes.readUInt32LE(4) === 1 }),
};

function* records(bytes) {
	for (let at = 0; at < bytes.length;) {
		const type = types[bytes.readUInt32LE(at)], length = bytes.readUInt32LE(at + 4);
		assert.ok(type && at + 24 + length <= bytes.length, 'a record that makes sense');
		yield { type, offset: Number(bytes.readBigUInt64LE(at + 8)), time: Number(bytes.readBigUInt64LE(at + 16)) / 1e6,
			...payloads[type](bytes.subarray(at + 24, at + 24 + length)) };
		at += 24 + length;
	}
}

/** The directories of recordings, oldest first; of one session if an id is given. */
export const tapes = (dir, id) => existsSync(dir)
	? readdirSync(dir).filter((name) => !id || name.startsWith(`${id}+`)).sort().map((name) => path.join(dir, name)) : [];

/** The segments of a recording, in order. */
export const segments = (tape) => readdirSync(tape).filter((name) => /^\d{8}\.(open|zst)$/.test(name)).sort()
	.map((name) => path.join(tape, name));

const unpack = (file) => spawnSync('zstd', ['-dcqq', '--no-check', file], { maxBuffer: 1 << 28 });

/** Its records; a segment that is being written may end within a frame. */
export function read(tape) {
	for (;;) {
		const files = segments(tape), last = files.at(-1);
		const unpacked = files.map(unpack);
		// Sealed, removed or started meanwhile; for a moment a segment exists in both forms.
		const same = segments(tape).join() === files.join();
		if (!same || files.some((file) => file !== last && file.endsWith('.open'))) continue;
		unpacked.forEach(({ status, stderr }, i) => assert.ok(status === 0 || files[i].endsWith('.open'), `zstd ${files[i]}: ${stderr}`));
		return unpacked.flatMap(({ stdout }) => [...records(stdout)]);
	}
}

/** All output; records must follow each other without a gap or an overlap. */
export function printed(list, from = 0) {
	let next = from;
	const pieces = [];
	for (const record of list) {
		if (record.type !== 'output') continue;
		assert.equal(record.offset, next, 'the next byte');
		next += record.bytes.length;
		pieces.push(record.bytes);
	}
	return Buffer.concat(pieces);
}
