/*
 * What runs the code of a context in JavaScript and TypeScript: read by `node -e` from its protocol descriptor, and run in
 * there. Frames (shell/context/executor_record.h) come and go by that descriptor alone; standard output and standard error
 * are the user's. For TypeScript a second frame of source has what takes the types out (types.mjs, compressed). Code runs as in V8's own REPL mode, asked for by the inspector of this very thread: it may await, and
 * declare again what it has declared. SIGINT ends what runs, and what is awaited.
 */
'use strict';
const fs = require('node:fs');
const inspector = require('node:inspector');
const net = require('node:net');
const path = require('node:path');
const util = require('node:util');
const vm = require('node:vm');
const zlib = require('node:zlib');
const { createRequire } = require('node:module');

const HEADER = 8;
const RECORD_MAX = 8 << 20; // bytes, as EXECUTOR_RECORD_MAX
const ROOM = 4096; // of a record, for what is around a result
const TEXT_MAX = 1 << 20; // characters
const LINES_MAX = 200; // of a stack
const INTEGER_MAX = 2 ** 63;
const GROUP = 'ringside';

const packed = process.argv[1] === 'typescript' ? read(read(HEADER).readUInt32BE(4)) : undefined;
let stripper; // once it is unpacked
process.argv.splice(1);

const wire = new net.Socket({ fd: 3, readable: true, writable: true });
const session = new inspector.Session();
session.connect();
let count = 0;
let running; // the number of what runs
let interrupt; // ends what is awaited
let taken; // what the inspector has given us

/** Before requests come: this many bytes. */
function read(length) {
	const bytes = Buffer.alloc(length);
	for (let at = 0; at < length;) {
		const count = fs.readSync(3, bytes, at, length - at);
		if (count === 0) process.exit(1);
		at += count;
	}
	return bytes;
}

/** TypeScript as JavaScript, each line where it was. */
function stripTypes(code) {
	if (stripper === undefined) {
		const module = { exports: {} };
		const source = zlib.brotliDecompressSync(packed).toString();
		vm.compileFunction(source, ['module', 'exports', 'require'], { filename: 'ringside:executor' })(module, module.exports, require);
		stripper = module.exports;
	}
	return stripper.stripTypes(code);
}

/** A string without surrogates that stand alone. */
const wellFormed = (text) => text.replace(/[\ud800-\udfff]/gu, '\ufffd');

function send(kind, record) {
	const body = Buffer.from(JSON.stringify(record));
	const header = Buffer.from(`rs${kind}1\0\0\0\0`, 'latin1');
	header.writeUInt32BE(body.length, 4);
	wire.write(Buffer.concat([header, body]));
}

/** What JSON says of a value; undefined where it cannot. */
function plain(value) {
	try {
		const text = JSON.stringify(value, (key, each) => {
			if (typeof each === 'number' && Number.isInteger(each) && Math.abs(each) >= INTEGER_MAX) throw new RangeError(key);
			return typeof each === 'string' ? wellFormed(each) : each;
		});
		return text === undefined ? undefined : JSON.parse(text);
	} catch {
		return undefined;
	}
}

function isPlain(value) {
	if (Array.isArray(value)) return true;
	if (typeof value !== 'object' || value === null) return false;
	const prototype = Object.getPrototypeOf(value);
	return prototype === null || prototype === Object.prototype;
}

/** An object that JSON can say as one, else text as inspect prints it. */
function shown(value) {
	const json = isPlain(value) ? plain(value) : undefined;
	if (json !== undefined) {
		const size = Buffer.byteLength(JSON.stringify(json));
		if (size <= RECORD_MAX - ROOM) return { json, metadata: {} };
		return { text: `<json of ${size} bytes left out>`, metadata: { omitted: { json: size } } };
	}
	let text = util.inspect(value);
	if (text.length > TEXT_MAX) text = `${text.slice(0, TEXT_MAX)}… (${text.length - TEXT_MAX} more characters)`;
	return { text: wellFormed(text), metadata: {} };
}

/** {ename, evalue, traceback}, and the stack on standard error, where people look for it. */
function failure(error) {
	let stack;
	try {
		stack = typeof error?.stack === 'string' ? error.stack : `Uncaught ${util.inspect(error)}`;
	} catch {
		stack = 'an error that cannot be said';
	}
	const all = wellFormed(stack.slice(0, TEXT_MAX)).split('\n').slice(0, LINES_MAX);
	// What stands behind the user's frames is ours.
	const own = all.findIndex((line) => /^ +at .*(ringside:executor|node:inspector)/.test(line));
	const lines = own < 0 ? all : all.slice(0, own);
	try {
		process.stderr.write(`${lines.join('\n')}\n`);
	} catch {
		// it has been closed
	}
	return { ename: 'ExecutionError', evalue: lines.join('\n'), traceback: lines };
}

const post = (method, params) => new Promise((done, failed) => {
	session.post(method, params, (error, result) => (error ? failed(new Error(error.message)) : done(result)));
});

/** The value that the inspector speaks of. */
async function valueOf(remote) {
	if (remote.objectId === undefined) {
		if (remote.unserializableValue !== undefined) return vm.runInThisContext(`(${remote.unserializableValue})`);
		return remote.value;
	}
	await post('Runtime.callFunctionOn', {
		objectId: remote.objectId, functionDeclaration: 'function () { process[Symbol.for("ringside.take")](this); }',
	});
	return taken.value;
}

Object.defineProperty(process, Symbol.for('ringside.take'), { value: (value) => { taken = { value }; } });
Object.defineProperty(globalThis, Symbol.for('ringside.post'), { value: undefined, writable: true });

/** Begin, in such a way that SIGINT ends what does not come back. */
function evaluate(expression) {
	let promise;
	globalThis[Symbol.for('ringside.post')] = () => {
		promise = post('Runtime.evaluate', { expression, replMode: true, awaitPromise: true, objectGroup: GROUP });
	};
	vm.runInThisContext('globalThis[Symbol.for("ringside.post")]()', { breakOnSigint: true, filename: 'ringside:executor' });
	return promise;
}

async function run(code) {
	const text = packed ? stripTypes(code) : code;
	const { result, exceptionDetails } = await evaluate(`${text}\n//# sourceURL=cell-${count}`);
	if (exceptionDetails) throw exceptionDetails.exception ? await valueOf(exceptionDetails.exception) : new Error(exceptionDetails.text);
	return valueOf(result);
}

async function execute(request, isInterrupted) {
	count += 1;
	running = request.run;
	const end = { run: request.run, count };
	const interrupted = new Promise((_, failed) => { interrupt = () => failed(new Error('The code was interrupted')); });
	interrupted.catch(() => {});
	if (isInterrupted) interrupt();
	try {
		const value = await Promise.race([isInterrupted ? interrupted : run(request.code), interrupted]);
		if (value !== undefined) send('R', { run: request.run, ...shown(value) });
	} catch (error) {
		end.error = failure(error);
	}
	interrupt = running = undefined;
	post('Runtime.releaseObjectGroup', { objectGroup: GROUP }).catch(() => {});
	send('D', end);
}

/** Requests, as their frames come: one that is interrupted by then is not begun, for nothing would be heard while it runs. */
let pending = Buffer.alloc(0);
wire.on('data', (bytes) => {
	const requests = [];
	const interrupts = new Set();
	pending = pending.length > 0 ? Buffer.concat([pending, bytes]) : bytes;
	while (pending.length >= HEADER && pending.length >= HEADER + pending.readUInt32BE(4)) {
		const end = HEADER + pending.readUInt32BE(4);
		const frame = pending.subarray(0, end);
		pending = pending.subarray(end);
		if (frame[2] === 0x58) requests.push(JSON.parse(frame.subarray(HEADER).toString()));
		else if (frame[2] === 0x49) interrupts.add(JSON.parse(frame.subarray(HEADER).toString()).run);
	}
	for (const request of requests) execute(request, interrupts.has(request.run));
	if (interrupts.has(running)) interrupt?.();
});

/** The server has gone: nobody could be told anything. */
function leave() {
	try {
		process.kill(-process.pid, 'SIGKILL');
	} finally {
		process.kill(process.pid, 'SIGKILL');
	}
}
wire.on('end', leave).on('close', leave).on('error', leave);
process.on('SIGINT', () => interrupt?.());
// What timers and promises of the user throw is told, and ends nothing.
process.on('uncaughtException', (error) => { failure(error); });

const requireHere = createRequire(path.join(process.cwd(), 'cell.js'));
for (const [name, value] of Object.entries({ require: requireHere, module: { exports: {} }, exports: {} }))
	Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
send('H', { version: process.versions.node });
