/*
 * The executor for JavaScript and TypeScript: `node -e` reads it from the protocol descriptor and executes it. Frames
 * (shell/context/executor_record.h) use that descriptor only; standard output and error belong to the user's code. For
 * TypeScript, a second frame of source is types.mjs, compressed.
 *
 * User code runs on the main thread in V8's REPL mode, through the inspector: it may use await, and redeclare variables.
 * Another thread, the wire, owns the descriptor: it receives interrupts even while the code blocks the main thread, and
 * terminates the code then.
 */
'use strict';
// Kept here, since user code can hide globals (`const process = …`), also from the code that strips types.
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
const OVERHEAD = 4096; // bytes of a record around a result
const TEXT_MAX = 1 << 20; // characters
const STACK_MAX = 256 << 10; // characters, which are sent twice, each as up to 6 bytes
const LINES_MAX = 200; // of a stack
const INTEGER_MAX = 2 ** 63;
const GROUP = 'ringside';

const packed = process.argv[1] === 'typescript' ? read(read(HEADER).readUInt32BE(4)) : undefined;
let stripper; // once it is unpacked
process.argv.splice(1);

const session = new inspector.Session();
session.connect();
/** Shared by both threads: the run that was interrupted last, and the number of written frames. */
const shared = new Int32Array(new SharedArrayBuffer(8));
const INTERRUPTED = 0;
const WRITTEN = 1;
let posted = 0; // frames that were passed to the wire
let count = 0;
let running; // {run, count} of the running code
let ended = 0; // the last run whose end was sent
let interrupt; // rejects the promise that execute() awaits
let received; // value that the inspector has passed to us
const requireHere = createRequire(path.join(process.cwd(), 'cell.js'));

/** Read this many bytes synchronously, before the wire runs. */
function read(length) {
	const bytes = Buffer.alloc(length);
	for (let at = 0; at < length;) {
		const count = fs.readSync(3, bytes, at, length - at);
		if (count === 0) process.exit(1);
		at += count;
	}
	return bytes;
}

/** Compile TypeScript to JavaScript; line numbers do not change. */
function stripTypes(code) {
	if (stripper === undefined) {
		const module = { exports: {} };
		const source = zlib.brotliDecompressSync(packed).toString();
		vm.compileFunction(source, ['module', 'exports', 'require', ...BUILTINS], { filename: 'ringside:executor' })(module, module.exports, require, ...builtins);
		stripper = module.exports;
	}
	return stripper.stripTypes(code);
}

/** Replace unpaired surrogates. */
const wellFormed = (text) => text.replace(/[\ud800-\udfff]/gu, '\ufffd');

function send(kind, record) {
	const body = Buffer.from(JSON.stringify(record));
	const header = Buffer.from(`rs${kind}1\0\0\0\0`, 'latin1');
	header.writeUInt32BE(body.length, 4);
	posted += 1;
	wire.postMessage({ frame: Buffer.concat([header, body]), ends: kind === 'D' ? record.run : undefined });
}

/** Copy a value through JSON; undefined if JSON cannot represent it. */
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

/** The formats to display a value in: JSON for plain objects and arrays, else the text of util.inspect(). */
function shown(value) {
	const json = isPlain(value) ? plain(value) : undefined;
	if (json !== undefined) {
		const size = Buffer.byteLength(JSON.stringify(json));
		if (size <= RECORD_MAX - OVERHEAD) return { json, metadata: {} };
		return { text: `<json of ${size} bytes left out>`, metadata: { omitted: { json: size } } };
	}
	let text = util.inspect(value);
	if (text.length > TEXT_MAX) text = `${text.slice(0, TEXT_MAX)}… (${text.length - TEXT_MAX} more characters)`;
	return { text: wellFormed(text), metadata: {} };
}

/** The lines of an error's stack, without the executor's. */
function linesOf(error) {
	const text = error?.stack;
	const stack = typeof text === 'string' ? text : `Uncaught ${util.inspect(error)}`;
	const all = wellFormed(stack.slice(0, STACK_MAX)).split('\n').slice(0, LINES_MAX);
	const own = all.findIndex((line) => /^ +at .*(ringside:executor|node:inspector)/.test(line));
	return own < 0 ? all : all.slice(0, own);
}

/** The error for a frame: {ename, evalue, traceback}. Also prints the stack on standard error. */
function failure(error) {
	let lines;
	try {
		lines = linesOf(error);
	} catch {
		lines = ['an error whose stack cannot be read'];
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

/** The inspector's id of the function by which it passes values to us. */
const RECEIVE = Symbol('receive');
process[RECEIVE] = (value) => { received = { value }; };
let receiveId;
session.post('Runtime.evaluate', { expression: 'process' }, (error, { result }) => {
	session.post('Runtime.getProperties', { objectId: result.objectId, ownProperties: true }, (failed, { result: properties }) => {
		receiveId = properties.find(({ symbol }) => symbol?.description === 'Symbol(receive)').value.objectId;
	});
});
delete process[RECEIVE];

/** The value of an inspector's remote object. */
async function valueOf(remote) {
	if (remote.objectId === undefined) {
		if (remote.unserializableValue !== undefined) return vm.runInThisContext(`(${remote.unserializableValue})`);
		return remote.value;
	}
	received = undefined;
	const posted = post('Runtime.callFunctionOn', {
		objectId: remote.objectId, functionDeclaration: 'function (receive) { receive(this); }', arguments: [{ objectId: receiveId }],
	});
	const value = received?.value; // set synchronously by post(); after the await it may be that of other code
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

/** Send the end of a run. The wire drops repeated ends. */
function sendEnd(end, error) {
	send('D', error === undefined ? end : { ...end, error });
	ended = end.run;
	if (running?.run === end.run) interrupt = running = undefined;
	post('Runtime.releaseObjectGroup', { objectGroup: GROUP }).catch(() => {});
}

/** SIGINT is ignored: the wire gets interrupts as frames. */
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
		if (running === end) sendEnd(end);
	} catch (error) {
		if (running === end) sendEnd(end, failure(error));
	}
}

/** Repair streams and modules that terminated code has left in an intermediate state. */
function repair() {
	for (const stream of [process.stdout, process.stderr])
		if (stream._writableState?.writing && stream._handle?.writeQueueSize === 0) stream._writableState.onwrite();
	for (const [name, module] of Object.entries(requireHere.cache)) if (module?.loaded === false) delete requireHere.cache[name];
}

/** Handlers of the wire's messages. */
const handlers = {
	run: execute,
	interrupt({ run }) {
		if (running?.run === run) interrupt();
	},
	/** The main thread was terminated, in the user's code or in ours. */
	terminated({ run }) {
		const text = String(interruption());
		try {
			repair();
			if (run !== ended) process.stderr.write(`${text}\n`);
		} catch {
			// user code may have replaced the streams
		}
		if (run !== ended) sendEnd(running?.run === run ? running : { run, count }, { ename: 'ExecutionError', evalue: text, traceback: [text] });
	},
};

/** node aborts after a terminated callback unless its check that all callbacks have returned is disabled. */
let checks;
const { noDeprecation } = process;
process.noDeprecation = true;
try {
	checks = process.binding('async_wrap');
} catch {
	// this version of node does not have it
}
process.noDeprecation = noDeprecation;
Object.defineProperty(globalThis, 'ringside.unchecked', { value: () => {
	const { async_hook_fields: fields, async_id_fields: ids, constants } = checks ?? {};
	if (!checks) return;
	fields[constants.kCheck] = fields[constants.kStackLength] = 0;
	ids[constants.kExecutionAsyncId] = ids[constants.kTriggerAsyncId] = 0;
} });

/** The thread that owns the descriptor. It is executed from its text, so it cannot use names from outside. */
function serveWire() {
	const inspector = require('node:inspector');
	const net = require('node:net');
	const { parentPort, workerData: { shared, INTERRUPTED, WRITTEN } } = require('node:worker_threads');
	const HEADER = 8;
	const PATIENCE = 100; // milliseconds until interrupted code is terminated
	const RUN = 0x58;
	const INTERRUPT = 0x49;
	const wire = new net.Socket({ fd: 3, readable: true, writable: true });
	let running; // number of the running code
	let patience; // timer, until interrupted code has ended
	let pending = Buffer.alloc(0);

	/** Send SIGINT again: the code may have started a program after the server's SIGINT. */
	function interruptPrograms() {
		try {
			process.kill(-process.pid, 'SIGINT');
		} catch {
			// it is not the leader of a process group
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
		patience ??= setInterval(() => { // repeated, as it may terminate earlier code instead
			if (first) interruptPrograms();
			first = false;
			terminate();
		}, PATIENCE);
	}

	function countWritten() {
		Atomics.add(shared, WRITTEN, 1);
		Atomics.notify(shared, WRITTEN);
	}

	/** Write a frame. An end may come twice, if sendEnd() was terminated: drop the second one. */
	function pass({ frame, ends }) {
		if (ends !== undefined && ends !== running) {
			countWritten();
			return;
		}
		if (ends !== undefined) {
			clearInterval(patience);
			patience = running = undefined;
		}
		wire.write(frame, countWritten);
	}

	function parse() {
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

	/** The server has closed the socket. */
	function leave() {
		try {
			process.kill(-process.pid, 'SIGKILL');
		} finally {
			process.kill(process.pid, 'SIGKILL');
		}
	}

	wire.on('data', (bytes) => {
		pending = pending.length > 0 ? Buffer.concat([pending, bytes]) : bytes;
		parse();
	}).on('end', leave).on('close', leave).on('error', leave);
	parentPort.on('message', pass);
}

const wire = new Worker(`(${serveWire})()`, {
	eval: true, execArgv: [], env: { ...process.env, NODE_OPTIONS: '' }, workerData: { shared, INTERRUPTED, WRITTEN },
});
wire.on('message', (message) => handlers[message.kind](message));
wire.on('exit', () => process.kill(process.pid, 'SIGKILL'));
/** The wire ends with the process: wait until it has written all frames. */
process.on('exit', () => {
	const until = Date.now() + 1000;
	for (let written; (written = Atomics.load(shared, WRITTEN)) < posted && Date.now() < until;) Atomics.wait(shared, WRITTEN, written, 50);
});
// Errors in the user's timers and promises are printed, and do not end the process.
process.on('uncaughtException', (error) => { failure(error); });

for (const [name, value] of Object.entries({ require: requireHere, module: { exports: {} }, exports: {} }))
	Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
send('H', { version: process.versions.node });
