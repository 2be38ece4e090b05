/*
 * What runs the code of a context in JavaScript and TypeScript: read by `node -e` from its protocol descriptor, and run in
 * there. Frames (shell/context/executor_record.h) come and go by that descriptor alone; standard output and standard error
 * are the user's. For TypeScript a second frame of source has what takes the types out (types.mjs, compressed).
 *
 * The user's code runs on the main thread, as in V8's own REPL mode, asked for by the inspector of that thread: it may await,
 * and declare again what it has declared. Another thread, the wire, has the descriptor: it hears of an interrupt also while
 * the code does not come back, and terminates it then.
 */
'use strict';
const fs = require('node:fs');
const inspector = require('node:inspector');
const path = require('node:path');
const util = require('node:util');
const vm = require('node:vm');
const zlib = require('node:zlib');
const { createRequire } = require('node:module');
const { Worker } = require('node:worker_threads');

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

const session = new inspector.Session();
session.connect();
let count = 0;
let running; // {run, count}, of what runs
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
	wire.postMessage({ frame: Buffer.concat([header, body]), ends: kind === 'D' });
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

const interruption = () => new Error('The code was interrupted');

const post = (method, params) => new Promise((done, failed) => {
	session.post(method, params, (error, result) => {
		if (error) failed(/Execution was terminated/.test(error.message) ? interruption() : new Error(error.message));
		else done(result);
	});
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

async function run(code) {
	const text = packed ? stripTypes(code) : code;
	const { result, exceptionDetails } = await post('Runtime.evaluate', {
		expression: `${text}\n//# sourceURL=cell-${count}`, replMode: true, awaitPromise: true, objectGroup: GROUP,
	});
	if (exceptionDetails) throw exceptionDetails.exception ? await valueOf(exceptionDetails.exception) : new Error(exceptionDetails.text);
	return valueOf(result);
}

/** It has ended, with what it has thrown if anything. That is told once. */
function finish(end, ...thrown) {
	if (running !== end) return;
	interrupt = running = undefined;
	post('Runtime.releaseObjectGroup', { objectGroup: GROUP }).catch(() => {});
	send('D', thrown.length > 0 ? { ...end, error: failure(thrown[0]) } : end);
}

async function execute(request) {
	count += 1;
	const end = { run: request.run, count };
	running = end;
	const interrupted = new Promise((_, failed) => { interrupt = () => failed(interruption()); });
	interrupted.catch(() => {});
	try {
		const value = await Promise.race([run(request.code), interrupted]);
		if (value !== undefined) send('R', { run: request.run, ...shown(value) });
		finish(end);
	} catch (error) {
		finish(end, error);
	}
}

/** What the wire says. */
const heard = {
	run: execute,
	refuse({ run }) {
		count += 1;
		running = { run, count };
		finish(running, interruption());
	},
	interrupt({ run }) {
		wire.postMessage({ heard: run });
		if (running?.run === run) interrupt();
	},
	/** It has been terminated: whatever it was at does not go on. */
	terminated({ run }) {
		if (running?.run === run) finish(running, interruption());
	},
};

/** The thread that has the descriptor. Its text is what it runs: nothing around it is known there. */
function serveWire() {
	const inspector = require('node:inspector');
	const net = require('node:net');
	const { parentPort } = require('node:worker_threads');
	const HEADER = 8;
	const PATIENCE = 100; // milliseconds for code to come back that is interrupted
	const RUN = 0x58;
	const INTERRUPT = 0x49;
	const wire = new net.Socket({ fd: 3, readable: true, writable: true });
	const session = new inspector.Session();
	session.connectToMainThread();
	let running; // the number of what runs
	let unheard; // a timer, until the main thread has answered
	let pending = Buffer.alloc(0);

	/** With a program that it waits for, which may have begun after the server's SIGINT. */
	function terminate() {
		const run = running;
		try {
			process.kill(-process.pid, 'SIGINT');
		} catch {
			// it leads no group
		}
		session.post('Runtime.terminateExecution', () => parentPort.postMessage({ kind: 'terminated', run }));
	}

	function interrupt(kind, run) {
		parentPort.postMessage({ kind, run });
		clearInterval(unheard);
		unheard = setInterval(terminate, PATIENCE); // what it terminates may be left of earlier code
	}

	/** One that is interrupted before it has begun is not begun. */
	function begin(request, interrupts) {
		running = request.run;
		if (interrupts.has(running)) interrupt('refuse', running);
		else parentPort.postMessage({ ...request, kind: 'run' });
	}

	function take() {
		const requests = [];
		const interrupts = new Set();
		while (pending.length >= HEADER && pending.length >= HEADER + pending.readUInt32BE(4)) {
			const end = HEADER + pending.readUInt32BE(4);
			const frame = pending.subarray(0, end);
			pending = pending.subarray(end);
			if (frame[2] === RUN) requests.push(JSON.parse(frame.subarray(HEADER).toString()));
			else if (frame[2] === INTERRUPT) interrupts.add(JSON.parse(frame.subarray(HEADER).toString()).run);
		}
		if (interrupts.has(running)) interrupt('interrupt', running);
		for (const request of requests) begin(request, interrupts);
	}

	/** The server has gone: nobody could be told anything. */
	function leave() {
		try {
			process.kill(-process.pid, 'SIGKILL');
		} finally {
			process.kill(process.pid, 'SIGKILL');
		}
	}

	wire.on('data', (bytes) => {
		pending = pending.length > 0 ? Buffer.concat([pending, bytes]) : bytes;
		take();
	}).on('end', leave).on('close', leave).on('error', leave);
	parentPort.on('message', (message) => {
		if (message.heard === running || message.ends) clearInterval(unheard); // not what was heard of earlier code
		if (message.ends) running = undefined;
		if (message.frame) wire.write(message.frame);
	});
}

const wire = new Worker(`(${serveWire})()`, { eval: true, execArgv: [] });
wire.on('message', (message) => heard[message.kind](message));
wire.on('exit', () => process.kill(process.pid, 'SIGKILL'));
process.on('SIGINT', () => {}); // the wire knows of it
// What timers and promises of the user throw is told, and ends nothing.
process.on('uncaughtException', (error) => { failure(error); });

const requireHere = createRequire(path.join(process.cwd(), 'cell.js'));
for (const [name, value] of Object.entries({ require: requireHere, module: { exports: {} }, exports: {} }))
	Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
send('H', { version: process.versions.node });
