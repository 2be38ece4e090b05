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
// The user's `const process = …` hides what is looked up by that name later, also from what takes the types out.
const BUILTINS = ['Array', 'Boolean', 'Error', 'Int16Array', 'Int32Array', 'JSON', 'Map', 'Math', 'Number', 'Object', 'RegExp', 'Set', 'String', 'Symbol', 'SyntaxError', 'Uint16Array', 'Uint8Array'];
const builtins = BUILTINS.map((name) => globalThis[name]);
const { Array, Atomics, Buffer, Date, Error, Int32Array, JSON, Math, Number, Object, Promise, RangeError, SharedArrayBuffer, String, Symbol, process } = globalThis;
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
const STACK_MAX = 256 << 10; // characters, which are told twice, each as up to 6 bytes
const LINES_MAX = 200; // of a stack
const INTEGER_MAX = 2 ** 63;
const GROUP = 'ringside';

const packed = process.argv[1] === 'typescript' ? read(read(HEADER).readUInt32BE(4)) : undefined;
let stripper; // once it is unpacked
process.argv.splice(1);

const session = new inspector.Session();
session.connect();
/** What both threads see: the run that was interrupted last, and how many frames have been written. */
const shared = new Int32Array(new SharedArrayBuffer(8));
const INTERRUPTED = 0;
const WRITTEN = 1;
let posted = 0; // frames, to the wire
let count = 0;
let running; // {run, count}, of what runs
let ended = 0; // the last run whose end has been told
let interrupt; // ends what is awaited
let taken; // what the inspector has given us
const requireHere = createRequire(path.join(process.cwd(), 'cell.js'));

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
		vm.compileFunction(source, ['module', 'exports', 'require', ...BUILTINS], { filename: 'ringside:executor' })(module, module.exports, require, ...builtins);
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
	posted += 1;
	wire.postMessage({ frame: Buffer.concat([header, body]), ends: kind === 'D' ? record.run : undefined });
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

/** The lines of an error's stack that are about the user's code. */
function linesOf(error) {
	const own = error?.stack;
	const stack = typeof own === 'string' ? own : `Uncaught ${util.inspect(error)}`;
	const all = wellFormed(stack.slice(0, STACK_MAX)).split('\n').slice(0, LINES_MAX);
	const ours = all.findIndex((line) => /^ +at .*(ringside:executor|node:inspector)/.test(line));
	return ours < 0 ? all : all.slice(0, ours);
}

/** {ename, evalue, traceback}, and the stack on standard error, where people look for it. */
function failure(error) {
	let lines;
	try {
		lines = linesOf(error);
	} catch {
		lines = ['an error that cannot be said'];
	}
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

/** The function by which the inspector gives us values, as the inspector knows it. */
const TAKE = Symbol('take');
process[TAKE] = (value) => { taken = { value }; };
let take;
session.post('Runtime.evaluate', { expression: 'process' }, (error, { result }) => {
	session.post('Runtime.getProperties', { objectId: result.objectId, ownProperties: true }, (failed, { result: properties }) => {
		take = properties.find(({ symbol }) => symbol?.description === 'Symbol(take)').value.objectId;
	});
});
delete process[TAKE];

/** The value that the inspector speaks of. */
async function valueOf(remote) {
	if (remote.objectId === undefined) {
		if (remote.unserializableValue !== undefined) return vm.runInThisContext(`(${remote.unserializableValue})`);
		return remote.value;
	}
	taken = undefined;
	const posted = post('Runtime.callFunctionOn', {
		objectId: remote.objectId, functionDeclaration: 'function (take) { take(this); }', arguments: [{ objectId: take }],
	});
	const value = taken?.value; // it has been given by now: later it may be that of other code
	await posted;
	return value;
}

async function run(code) {
	const text = packed ? stripTypes(code) : code;
	const { result, exceptionDetails } = await post('Runtime.evaluate', {
		expression: `${text}\n//# sourceURL=cell-${count}`, replMode: true, awaitPromise: true, objectGroup: GROUP,
	});
	if (exceptionDetails) throw exceptionDetails.exception ? await valueOf(exceptionDetails.exception) : new Error(exceptionDetails.text);
	return valueOf(result);
}

/** It has ended: the wire passes on the first time that this is told. */
function tellEnd(end, error) {
	send('D', error === undefined ? end : { ...end, error });
	ended = end.run;
	if (running?.run === end.run) interrupt = running = undefined;
	post('Runtime.releaseObjectGroup', { objectGroup: GROUP }).catch(() => {});
}

/** SIGINT, of which the wire knows. */
const ignore = () => {};
process.on('SIGINT', ignore).on('removeListener', (name, listener) => { if (listener === ignore) process.on(name, ignore); });

async function execute(request) {
	count += 1;
	const end = { run: request.run, count };
	running = end;
	const interrupted = new Promise((_, failed) => { interrupt = () => failed(interruption()); });
	interrupted.catch(() => {});
	try {
		if (Atomics.load(shared, INTERRUPTED) === request.run) throw interruption();
		const value = await Promise.race([run(request.code), interrupted]);
		if (value !== undefined && running === end) send('R', { run: request.run, ...shown(value) });
		if (running === end) tellEnd(end);
	} catch (error) {
		if (running === end) tellEnd(end, failure(error));
	}
}

/** What was terminated has left these as they were in the middle of it. */
function repair() {
	for (const stream of [process.stdout, process.stderr])
		if (stream._writableState?.writing && stream._handle?.writeQueueSize === 0) stream._writableState.onwrite();
	for (const [name, module] of Object.entries(requireHere.cache)) if (module?.loaded === false) delete requireHere.cache[name];
}

/** What is done when the wire says something. */
const handlers = {
	run: execute,
	interrupt({ run }) {
		if (running?.run === run) interrupt();
	},
	/** Whatever the main thread was at does not go on: it may have been the user's code, or ours. */
	terminated({ run }) {
		const text = String(interruption());
		try {
			repair();
			if (run !== ended) process.stderr.write(`${text}\n`);
		} catch {
			// the user has replaced one of these
		}
		if (run !== ended) tellEnd(running?.run === run ? running : { run, count }, { ename: 'ExecutionError', evalue: text, traceback: [text] });
	},
};

/** node goes on after a callback that was terminated if it does not check whether all callbacks have come back. */
let checks;
const { noDeprecation } = process;
process.noDeprecation = true;
try {
	checks = process.binding('async_wrap');
} catch {
	// this node has none
}
process.noDeprecation = noDeprecation;
Object.defineProperty(globalThis, 'ringside.unchecked', { value: () => {
	const { async_hook_fields: fields, async_id_fields: ids, constants } = checks ?? {};
	if (!checks) return;
	fields[constants.kCheck] = fields[constants.kStackLength] = 0;
	ids[constants.kExecutionAsyncId] = ids[constants.kTriggerAsyncId] = 0;
} });

/** The thread that has the descriptor. Its text is what it runs: nothing around it is known there. */
function serveWire() {
	const inspector = require('node:inspector');
	const net = require('node:net');
	const { parentPort, workerData: { shared, INTERRUPTED, WRITTEN } } = require('node:worker_threads');
	const HEADER = 8;
	const PATIENCE = 100; // milliseconds for code to come back that is interrupted
	const RUN = 0x58;
	const INTERRUPT = 0x49;
	const wire = new net.Socket({ fd: 3, readable: true, writable: true });
	let running; // the number of what runs
	let patience; // a timer, until what is interrupted has ended
	let pending = Buffer.alloc(0);

	/** A program that it waits for may have begun after the server's SIGINT. */
	function interruptPrograms() {
		try {
			process.kill(-process.pid, 'SIGINT');
		} catch {
			// it leads no group
		}
	}

	function terminate() {
		const run = running;
		const session = new inspector.Session();
		session.connectToMainThread();
		session.post('Runtime.evaluate', { expression: 'this["ringside.unchecked"]()' });
		session.post('Runtime.terminateExecution', () => {
			session.disconnect();
			parentPort.postMessage({ kind: 'terminated', run });
		});
	}

	function interrupt(run) {
		let first = true;
		Atomics.store(shared, INTERRUPTED, run);
		parentPort.postMessage({ kind: 'interrupt', run });
		patience ??= setInterval(() => { // what it terminates may be left of earlier code
			if (first) interruptPrograms();
			first = false;
			terminate();
		}, PATIENCE);
	}

	function tellWritten() {
		Atomics.add(shared, WRITTEN, 1);
		Atomics.notify(shared, WRITTEN);
	}

	/** An end may be told twice, where the first telling was terminated. */
	function pass({ frame, ends }) {
		if (ends !== undefined && ends !== running) {
			tellWritten();
			return;
		}
		if (ends !== undefined) {
			clearInterval(patience);
			patience = running = undefined;
		}
		wire.write(frame, tellWritten);
	}

	function take() {
		while (pending.length >= HEADER && pending.length >= HEADER + pending.readUInt32BE(4)) {
			const end = HEADER + pending.readUInt32BE(4);
			const frame = pending.subarray(0, end);
			pending = pending.subarray(end);
			if (frame[2] !== RUN && frame[2] !== INTERRUPT) continue;
			const request = JSON.parse(frame.subarray(HEADER).toString());
			if (frame[2] === RUN) {
				running = request.run;
				parentPort.postMessage({ ...request, kind: 'run' });
			} else if (request.run === running) {
				interrupt(running);
			}
		}
	}

	/** The server has gone: nothing can be told any more. */
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
	parentPort.on('message', pass);
}

const wire = new Worker(`(${serveWire})()`, {
	eval: true, execArgv: [], env: { ...process.env, NODE_OPTIONS: '' }, workerData: { shared, INTERRUPTED, WRITTEN },
});
wire.on('message', (message) => handlers[message.kind](message));
wire.on('exit', () => process.kill(process.pid, 'SIGKILL'));
/** The wire ends with the process: what has been told of is written first. */
process.on('exit', () => {
	const until = Date.now() + 1000;
	for (let written; (written = Atomics.load(shared, WRITTEN)) < posted && Date.now() < until;) Atomics.wait(shared, WRITTEN, written, 50);
});
// What timers and promises of the user throw is told, and ends nothing.
process.on('uncaughtException', (error) => { failure(error); });

for (const [name, value] of Object.entries({ require: requireHere, module: { exports: {} }, exports: {} }))
	Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
send('H', { version: process.versions.node });
