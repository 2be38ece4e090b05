// Code contexts: the published client's code interpreter over HTTP and over its WebSocket, streaming, and code that is
// hostile to its executor.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { overEach } from '../sandbox/local.mjs';
import { Api } from './lib/api.mjs';
import { processesNaming } from './lib/proc.mjs';
import { scenario } from './lib/server.mjs';
import { EventStream } from './lib/sse.mjs';
import { times } from './lib/soak.mjs';
import { shared, tidy } from './lib/together.mjs';
import { until } from './lib/until.mjs';

/** A test over each transport; only: see overEach(). */
function clients(name, body, only) {
	shared(name, (server) => overEach(server, only, async (client) => {
		await body(client.interpreter, server);
		await tidy(server);
	}));
}

/** Run code with the client; returns its callbacks and results. */
async function run(interpreter, id, code, { language, timeoutMs } = {}) {
	const got = { stdout: '', stderr: '', results: [] };
	await interpreter.runCodeStream(id, code, language, {
		onStdout: ({ text }) => { got.stdout += text; },
		onStderr: ({ text }) => { got.stderr += text; },
		/* The raw result; the client makes an object of it over HTTP, but not over RPC. */
		onResult(result) {
			const cloned = JSON.parse(JSON.stringify(result));
			delete cloned.metadata;
			got.results.push(cloned);
		},
		onError: (error) => { got.error = error; },
	}, timeoutMs);
	return got;
}

const quiet = { stdout: '', stderr: '', results: [] };
const shows = (...results) => ({ ...quiet, results });

const create = async (server, fields = {}) => (await server.api.call('POST', '/api/contexts', fields)).contextId;

/** Execute code over HTTP. */
const begin = (server, id, code, more) => new EventStream(server, '/api/execute/code', { method: 'POST', body: { context_id: id, code, ...more } });

/** The same, and wait for its first output. */
async function begun(server, id, code) {
	const stream = begin(server, id, code);
	await until('the first output', () => stream.events.length > 0);
	return stream;
}

/** The same, and wait for its end; returns all events. */
async function execute(server, id, code, more = {}) {
	const stream = begin(server, id, code, more);
	await until(`the end of ${code.slice(0, 80)}`, () => stream.closed);
	return stream.events.map(({ at, ...event }) => event);
}

/** Join consecutive pieces of the same text. */
const merged = (events) => events.reduce((all, each) => {
	const last = all.at(-1);
	if (last?.type === each.type && each.type.startsWith('std')) last.text += each.text;
	else all.push({ ...each });
	return all;
}, []);

const textOf = (events, type = 'stdout') => events.filter((each) => each.type === type).map((each) => each.text).join('');
const raised = (events) => events.at(-1).ename;

clients('Python: state, results, errors', async (interpreter, server) => {
	const { id, language, cwd } = await interpreter.createCodeContext();
	assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
	assert.deepEqual([language, cwd], ['python', server.cwd], '/workspace is the workspace');
	assert.deepEqual(await run(interpreter, id, 'x = 41'), quiet);
	assert.deepEqual(await run(interpreter, id, 'x += 1\nx'), shows({ text: '42' }));
	assert.deepEqual(await run(interpreter, id, 'x;'), quiet);
	assert.deepEqual(await run(interpreter, id, '{"a": [1, 2.5, None, True]}'), shows({ json: { a: [1, 2.5, null, true] } }));
	assert.deepEqual(await run(interpreter, id, '[1, 2]'), shows({ json: [1, 2] }));
	assert.deepEqual(await run(interpreter, id, '{"a": {7}}'), shows({ text: "{'a': {7}}" }), 'a set in a dict is not an error');
	assert.deepEqual(await run(interpreter, id, '[10 ** 30, float("nan")]'),
		shows({ text: `[1${'0'.repeat(30)}, nan]` }), 'values that JSON cannot express');
	assert.deepEqual(await run(interpreter, id, '"\\ud800"'), shows({ text: "'\\ud800'" }));
	assert.deepEqual(await run(interpreter, id, 'import asyncio\nawait asyncio.sleep(0)\n"awaited"'), shows({ text: "'awaited'" }));
	const zero = await run(interpreter, id, 'def f():\n  return 1 / 0\nprint("before")\nf()');
	assert.deepEqual([zero.stdout, zero.error.name, zero.error.message], ['before\n', 'ZeroDivisionError', 'division by zero']);
	assert.ok(zero.error.traceback.some((line) => line.includes('return 1 / 0')), zero.error.traceback.join('\n'));
	assert.ok(!zero.error.traceback.some((line) => /ringside|\x1b/.test(line)), 'the traceback has user code alone, without colours');
	assert.equal((await run(interpreter, id, 'def (')).error.name, 'SyntaxError');
	assert.equal((await run(interpreter, id, 'input()')).error.name, 'EOFError');
	assert.equal((await run(interpreter, id, 'import sys; sys.exit(3)')).error.name, 'SystemExit');
	assert.deepEqual(await run(interpreter, id, 'x'), shows({ text: '42' }));
	const other = await interpreter.createCodeContext({ language: 'python' });
	assert.equal((await run(interpreter, other.id, 'x')).error.name, 'NameError');
	assert.deepEqual((await interpreter.listCodeContexts()).map((each) => each.id), [id, other.id]);
	await interpreter.deleteCodeContext(other.id);
	await assert.rejects(interpreter.deleteCodeContext(other.id), (error) => error.name === 'ContextNotFoundError' && error.httpStatus === 404);
	assert.deepEqual((await interpreter.listCodeContexts()).map((each) => each.id), [id]);
}, 'HTTP');

clients('Python: output, also of children, and displayed objects', async (interpreter) => {
	const { id } = await interpreter.createCodeContext();
	assert.deepEqual(await run(interpreter, id, 'import os, sys\nprint("é\\u2028")\nos.system("echo hi; echo err >&2")\nos.write(1, b"raw")\n1'),
		{ ...quiet, stdout: 'é\u2028\nhi\nraw', stderr: 'err\n', results: [{ text: '1' }] });
	const shown = await run(interpreter, id, `
class Rich:
    def _repr_html_(self): return '<b>h</b>'
    def _repr_png_(self): return b'\\x89PNG'
    def _repr_latex_(self): return '$x$'
    def _repr_markdown_(self): return '*m*'
    def _repr_svg_(self): return '<svg/>'
    def _repr_javascript_(self): return 'alert()'
    def _repr_jpeg_(self): return None
    def _repr_json_(self): return {'j': [1]}
    def __repr__(self): return 'Rich!'
class Bad:
    def _repr_html_(self): raise ValueError('no')
    def __repr__(self): return 'Bad!'
display(Rich(), 5)
print('between')
Bad()`);
	assert.deepEqual(shown.results, [{ png: 'iVBORw==' }, { svg: '<svg/>' }, { html: '<b>h</b>' }, { json: { j: [1] } }, { latex: '$x$' },
		{ markdown: '*m*' }, { javascript: 'alert()' }, { text: 'Rich!' }, { text: '5' }, { text: 'Bad!' }]);
	assert.match(shown.stderr, /ValueError: no/);
	assert.equal(shown.error, undefined);
});

/** Modules that behave like matplotlib and pandas, for code that displays their objects; no real ones are needed. */
function fakeModules(server) {
	const folder = join(server.home, 'fakes');
	mkdirSync(join(folder, 'matplotlib'), { recursive: true });
	writeFileSync(join(folder, 'matplotlib/__init__.py'), '');
	writeFileSync(join(folder, 'matplotlib/figure.py'),
		'class Figure:\n    def __init__(self, n): self.number = n\n    def savefig(self, file, format=None, **_): file.write(b"\\x89" + format.encode() + bytes([self.number]))\n');
	writeFileSync(join(folder, 'matplotlib/pyplot.py'), `
import os
from matplotlib.figure import Figure
backend = os.environ['MPLBACKEND']
open_figures = {}
def figure(number=None):
    number = number or len(open_figures) + 1
    return open_figures.setdefault(number, Figure(number))
def get_fignums(): return sorted(open_figures)
def close(what):
    for number in list(open_figures):
        if what == 'all' or open_figures[number] is what: del open_figures[number]
def show(): raise RuntimeError('there is no screen')
`);
	writeFileSync(join(folder, 'pandas.py'),
		'class DataFrame:\n    def __repr__(self): return "   a\\n0  1"\n    def _repr_html_(self): return "<table></table>"\n    def _repr_latex_(self): return None\n');
	return folder;
}

const png = (number) => ({ png: Buffer.from(`\x89png${String.fromCharCode(number)}`, 'latin1').toString('base64') });

clients('Python: figures, tables, and other objects with formats', async (interpreter, server) => {
	const { id } = await interpreter.createCodeContext({ envVars: { PYTHONPATH: fakeModules(server) } });
	assert.deepEqual(await run(interpreter, id, 'import matplotlib.pyplot as plt\nplt.backend'), shows({ text: "'Agg'" }));
	assert.deepEqual(await run(interpreter, id, 'f = plt.figure(); g = plt.figure()\ndisplay("first")\n"last"'),
		shows({ text: "'first'" }, png(1), png(2), { text: "'last'" }), 'open figures come before the value');
	assert.deepEqual(await run(interpreter, id, 'plt.get_fignums()'), shows({ json: [] }), 'figures are closed');
	assert.deepEqual(await run(interpreter, id, 'plt.figure(7)\nplt.show()\nprint("after")\nf'), { ...shows(png(7), png(1)), stdout: 'after\n' });
	assert.deepEqual(await run(interpreter, id, 'plt.figure(3)'), shows(png(3)), 'a figure that is also the result is shown once');
	const raising = await run(interpreter, id, 'plt.figure(4)\n1/0');
	assert.deepEqual([raising.results, raising.error.name], [[png(4)], 'ZeroDivisionError'], 'figures before an error are shown');
	assert.deepEqual(await run(interpreter, id, 'import pandas\npandas.DataFrame()'), shows({ html: '<table></table>' }, { text: '   a\n0  1' }));
	assert.deepEqual(await run(interpreter, id, `
class Bundle:
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {'image/svg+xml': '<svg/>', 'text/latex': '$x$', 'application/json': {'a': [1]}, 'text/plain': 'x', 'image/gif': b''}, {'width': 3}
    def _repr_html_(self): return '<i>beside</i>'
Bundle()`), shows({ svg: '<svg/>' }, { html: '<i>beside</i>' }, { json: { a: [1] } }, { latex: '$x$' }, { text: 'x' }));
	assert.deepEqual(await run(interpreter, id, 'display({"text/plain": "p", "image/png": b"\\x89"}, raw=True)'), shows({ png: 'iQ==' }));
	assert.deepEqual(await run(interpreter, id, 'Bundle'), shows({ text: "<class '__main__.Bundle'>" }), 'a class is not an instance');
}, 'HTTP');

/** Whether python3 has IPython; tests/setup.sh installs it. */
const ipython = spawnSync('python3', ['-c', 'import IPython'], { encoding: 'utf8' }).status === 0;

const withIPython = (name, body) => shared(name, { skip: ipython ? false : 'no IPython' }, body);

withIPython('with IPython: its commands, its magics, and the same frames', async (server) => {
	const id = await create(server);
	const does = async (code) => merged(await execute(server, id, code)).map(({ metadata, execution_count, timestamp, ...rest }) => rest);
	const complete = { type: 'execution_complete' };
	assert.deepEqual(await does('x = 41'), [complete]);
	assert.deepEqual(await does('!echo hi {x}; echo err >&2; exit 3'), [{ type: 'stdout', text: 'hi 41\n' }, { type: 'stderr', text: 'err\n' }, complete]);
	assert.deepEqual(await does('_exit_code'), [{ type: 'result', text: '3' }, complete], 'no prompt, no echo');
	assert.deepEqual(await does('lines = !printf "a\\nb\\n"\nlist(lines)'), [{ type: 'result', json: ['a', 'b'] }, complete]);
	assert.deepEqual(await does('print("1st")\n%pwd'), [{ type: 'stdout', text: '1st\n' }, { type: 'result', text: `'${server.cwd}'` }, complete]);
	assert.deepEqual(await does('%%bash\necho "from bash"'), [{ type: 'stdout', text: 'from bash\n' }, complete]);
	assert.deepEqual(await does('x + 1;'), [complete]);
	assert.deepEqual(await does('import asyncio\nawait asyncio.sleep(0)\ndisplay(1)\nx'), [{ type: 'result', text: '1' }, { type: 'result', text: '41' }, complete]);
	assert.match((await does('len?'))[0].text, /number of items/);
	for (const [code, name] of Object.entries({ '%nope': 'UsageError', 'y +': 'SyntaxError', nowhere: 'NameError', 'import sys; sys.exit(3)': 'SystemExit' })) {
		const events = await does(code);
		assert.deepEqual(events.map(({ type, ename }) => ename ?? type), [name], JSON.stringify(events));
	}
	const raising = (await does('def f():\n  return 1 / 0\nf()')).at(-1);
	assert.equal(raising.ename, 'ZeroDivisionError');
	assert.match(raising.traceback.join('\n'), /^Traceback[^\n]*\n  File "<cell \d+>", line 3, in <module>\n    f\(\)\n  File "<cell \d+>", line 2, in f\n    return 1 \/ 0/);
	assert.doesNotMatch(raising.traceback.join('\n'), /ringside|IPython|\x1b/);
	const slow = await execute(server, id, '!sleep 1000', { timeout_ms: 500 });
	assert.equal(raised(slow), 'TimeoutError');
	assert.equal((await does('x'))[0].text, '41', 'variables survive an interrupt');
	assert.ok(!existsSync(join(server.home, '.ipython')), 'nothing is written into the home');
});

withIPython('with IPython: its display functions, and custom formatters', async (server) => {
	const id = await create(server);
	const results = async (code) => (await execute(server, id, code)).filter(({ type }) => type === 'result')
		.map(({ type, metadata, timestamp, ...rest }) => rest);
	assert.deepEqual(await results('from IPython.display import *\nHTML("<b>")'), [{ html: '<b>' }, { text: '<IPython.core.display.HTML object>' }]);
	assert.deepEqual(await results('display(Markdown("*m*"), Latex("$x$"), SVG("<svg/>"), JSON({"a": 1}), Javascript("1"), Image(b"\\x89PNG", format="png"))'),
		[{ markdown: '*m*' }, { latex: '$x$' }, { svg: '<svg/>' }, { json: { a: 1 } }, { javascript: '1' }, { png: 'iVBORw==' }]);
	assert.deepEqual(await results('h = display(1, display_id=True)\nh.update(2)\nclear_output()'), [{ text: '1' }, { text: '2' }]);
	assert.deepEqual(await results(`
class Own: pass
get_ipython().display_formatter.formatters['text/html'].for_type(Own, lambda own: '<u>own</u>')
o = Own()
o.__class__.__repr__ = lambda self: 'own'
o`), [{ html: '<u>own</u>' }, { text: 'own' }]);
});

shared('without IPython its commands are errors of Python', async (server) => {
	const hidden = join(server.home, 'hidden');
	mkdirSync(join(hidden, 'IPython'), { recursive: true });
	writeFileSync(join(hidden, 'IPython/__init__.py'), 'raise ImportError("it is broken")\n');
	const id = await create(server, { env_vars: { PYTHONPATH: hidden } });
	await execute(server, id, 'x = 1');
	for (const code of ['!echo hi', '%pwd', 'x?']) assert.equal(raised(await execute(server, id, code)), 'SyntaxError', code);
	assert.equal(raised(await execute(server, id, 'ls')), 'NameError');
	assert.equal((await execute(server, id, 'x'))[0].text, '1');
	assert.equal((await execute(server, id, 'get_ipython()'))[0].type, 'execution_complete');
});

clients('JavaScript: state, results, errors', async (interpreter) => {
	const { id } = await interpreter.createCodeContext({ language: 'javascript' });
	const js = (code, more) => run(interpreter, id, code, more);
	assert.deepEqual(await js('const x = 1; let y = 2; class K {}; function f() { return x + y; }'), quiet);
	assert.deepEqual(await js('f()', { language: 'javascript' }), shows({ text: '3' }));
	assert.deepEqual(await js('const x = 5; let y = await Promise.resolve(6); x + y'), shows({ text: '11' }), 'declared again');
	assert.deepEqual(await js('({ a: [1, { b: null }] })'), shows({ json: { a: [1, { b: null }] } }));
	assert.deepEqual(await js('[1, "\\ud800"]'), shows({ json: [1, '\ufffd'] }));
	assert.deepEqual(await js('[2 ** 64]'), shows({ text: '[ 18446744073709552000 ]' }), 'a number without an exact JSON value is text');
	assert.deepEqual(await js('new Map([[1, new K()]])'), shows({ text: 'Map(1) { 1 => K {} }' }));
	assert.deepEqual(await js('Promise.resolve("awaited")'), shows({ text: "'awaited'" }));
	assert.deepEqual(await js('10n ** 20n'), shows({ text: '100000000000000000000n' }));
	assert.deepEqual(await js('undefined'), quiet);
	assert.deepEqual(await js('console.log("out"); console.error("err"); require("child_process").execSync("echo kid", { stdio: "inherit" }); typeof process + typeof global'),
		{ ...quiet, stdout: 'out\nkid\n', stderr: 'err\n', results: [{ text: "'objectobject'" }] });
	const thrown = await js('function g() { throw new TypeError("no"); }\ng()');
	assert.equal(thrown.error.name, 'ExecutionError');
	assert.match(thrown.error.message, /^TypeError: no\n +at g .*cell-\d+:1:/);
	assert.equal(thrown.stderr.trim(), thrown.error.message);
	assert.doesNotMatch(thrown.error.message, /ringside|node:/);
	assert.match((await js('let {')).error.message, /^SyntaxError/);
	assert.match((await js('throw { no: "error" }')).error.message, /no: 'error'/);
	for (const endless of ['while (true);', 'await new Promise(() => setInterval(() => {}, 1000))'])
		assert.equal((await js(endless, { timeoutMs: 200 })).error.name, 'TimeoutError', endless);
	assert.deepEqual(await js('f()'), shows({ text: '11' }), 'variables survive an interrupt');
	assert.match((await js('setTimeout(() => { throw new Error("late"); }, 1); await new Promise((r) => setTimeout(r, 50)); 1')).stderr, /late/);
	assert.equal((await js('process.exit(3)')).error.name, 'ExecutorDied');
	assert.match((await js('f()')).error.message, /ReferenceError/);
}, 'WebSocket');

clients('TypeScript: state, results, errors', async (interpreter) => {
	const { id } = await interpreter.createCodeContext({ language: 'typescript' });
	const ts = (code, more) => run(interpreter, id, code, more);
	assert.deepEqual(await ts('interface A { a: number }\nconst x: A = { a: 1 };\nx as A'), shows({ json: { a: 1 } }));
	assert.deepEqual(await ts('const x: number = await Promise.resolve<number>(41); let y: number | string = x + 1;\ny'), shows({ text: '42' }), 'declared again');
	assert.deepEqual(await ts('x + (y as number)', { language: 'typescript' }), shows({ text: '83' }), 'variables stay');
	assert.deepEqual(await ts('enum Colour { Red = 1, Green, Blue = "b" }\nnamespace T { export type A = Colour }\n[Colour.Green, Colour[1], Colour.Blue]'),
		shows({ json: [2, 'Red', 'b'] }));
	assert.deepEqual(await ts('Colour.Red'), shows({ text: '1' }));
	assert.deepEqual(await ts('class P { constructor(private readonly a: number, public b = 2) {} sum(): number { return this.a + this.b; } }\nnew P(1).sum()'),
		shows({ text: '3' }));
	assert.deepEqual(await ts('const id = <const T,>(v: T): T => v;\nfunction o(a: string): string;\nfunction o(a: any): any { return a; }\nid<number>(o("é")!.length satisfies number)'),
		shows({ text: '1' }));
	assert.deepEqual(await ts('const one = 1\ntype T = number\ninterface B {\n  type: T\n}\n[one].length'), shows({ text: '1' }), 'a type ends the statement before it');
	assert.deepEqual(await ts('type Only = string'), quiet);
	assert.deepEqual(await ts('import type { X } from "nowhere";\ndeclare const d: number;\nconst type = 1, declare = 2;\ntype + declare'), shows({ text: '3' }));
	const thrown = await ts('interface B {\n  a: number;\n}\n\nfunction fails(b: B): never {\n  throw new TypeError(`no ${b.a}`);\n}\nfails({ a: 1 })');
	assert.match(thrown.error.message, /^TypeError: no 1\n +at fails .*cell-\d+:6:9\)\n +at cell-\d+:8:1/, 'line numbers are those of the code');
	assert.match((await ts('let x: = 1')).error.message, /^SyntaxError: .*\(1:8\)/);
	assert.match((await ts('namespace N { export const a = 1 }')).error.message, /^SyntaxError: A namespace that holds values .*line 1/);
	assert.equal((await ts('while (true as boolean);', { timeoutMs: 200 })).error.name, 'TimeoutError');
	assert.deepEqual(await ts('one'), shows({ text: '1' }), 'variables survive an interrupt');
}, 'RPC');

shared('output comes as it is written, all of it before the end, in order', async (server) => {
	const id = await create(server);
	const stream = await begun(server, id, 'import os, time\nprint("first", end="")\nwhile not os.path.exists("go"): time.sleep(0.01)\nprint(" last")');
	assert.deepEqual(stream.events.map(({ type, text }) => [type, text]), [['stdout', 'first']]);
	assert.equal(stream.closed, false);
	writeFileSync(join(server.cwd, 'go'), '');
	await until('the end', () => stream.closed);
	assert.equal(textOf(stream.events), 'first last\n');
	const mixed = await execute(server, id, 'for i in range(3):\n  print(i)\n  display(i)\nimport subprocess\nsubprocess.run(["head", "-c", "1000000", "/dev/zero"])\nprint("end")');
	assert.deepEqual(merged(mixed).slice(0, 6).map(({ type, text }) => [type, text]),
		[0, 1, 2].flatMap((i) => [['stdout', `${i}\n`], ['result', `${i}`]]));
	assert.equal(textOf(mixed).length, 6 + 1_000_000 + 4);
	assert.ok(textOf(mixed).endsWith('\0end\n'));
	assert.deepEqual(mixed.at(-1), { type: 'execution_complete', execution_count: 2 });
	assert.deepEqual((await execute(server, id, '1/0')).at(-1).ename, 'ZeroDivisionError');
	assert.deepEqual((await execute(server, id, '')).at(-1), { type: 'execution_complete', execution_count: 4 });
});

shared('cwd, env_vars and timeout_ms are honoured', async (server) => {
	const id = await create(server, { language: 'Python3', cwd: server.home, env_vars: { LEVEL: 'a=b c' } });
	assert.deepEqual(await execute(server, id, 'import os\n[os.getcwd(), os.environ["LEVEL"]]'), [
		{ type: 'result', json: [server.home, 'a=b c'], metadata: {} }, { type: 'execution_complete', execution_count: 1 }]);
	const slow = await execute(server, id, 'kept = 1\nwhile True: pass', { timeout_ms: 200 });
	assert.equal(raised(slow), 'TimeoutError');
	assert.doesNotMatch(slow.at(-1).evalue, /gone/);
	assert.equal(textOf(await execute(server, id, 'print(kept)')), '1\n', 'variables survive an interrupt');
	const stubborn = await execute(server, id, 'import signal, os\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nos.system("sleep 1000 & sleep 1000")', { timeout_ms: 200 });
	assert.equal(raised(stubborn), 'TimeoutError');
	assert.match(stubborn.at(-1).evalue, /gone/);
	assert.equal(raised(await execute(server, id, 'kept')), 'NameError', 'a new executor, with the original settings');
	assert.equal(textOf(await execute(server, id, 'import os; print(os.environ["LEVEL"])')), 'a=b c\n');
});

shared('refusals', async (server) => {
	const { api } = server;
	const id = await create(server);
	assert.equal((await api.call('POST', '/api/contexts', { language: 'cobol' })).language, 'python', 'as with the container');
	await api.refused(400, 'VALIDATION_FAILED', 'POST', '/api/contexts', { language: 5 });
	await api.refused(400, 'VALIDATION_FAILED', 'POST', '/api/contexts', { cwd: 'relative' });
	await api.refused(404, 'CONTEXT_NOT_FOUND', 'DELETE', '/api/contexts/none');
	await api.refused(404, 'CONTEXT_NOT_FOUND', 'POST', '/api/contexts/none/interrupt', {});
	await api.refused(400, 'VALIDATION_FAILED', 'POST', '/api/execute/code', { context_id: id });
	await api.refused(400, 'VALIDATION_FAILED', 'POST', '/api/execute/code', { code: '1' });
	await api.refused(413, 'REQUEST_TOO_LARGE', 'POST', '/api/execute/code', { context_id: id, code: 'x'.repeat(1 << 20) });
	await api.refused(400, 'VALIDATION_FAILED', 'POST', '/api/execute/code', { context_id: id, code: '1', timeout_ms: -1 });
	const unknown = await api.raw('POST', '/api/execute/code', { context_id: 'none', code: '1' });
	assert.deepEqual([unknown.status, unknown.json.code, typeof unknown.json.error, unknown.json.details], [404, 'CONTEXT_NOT_FOUND', 'string', { contextId: 'none' }]);
	// The message is cut within a character.
	const contextId = '€'.repeat(40);
	const cut = await api.raw('POST', '/api/execute/code', { context_id: contextId, code: '1' });
	assert.deepEqual([cut.status, cut.json.code, cut.json.details], [404, 'CONTEXT_NOT_FOUND', { contextId }]);
	const other = await api.raw('POST', '/api/execute/code', { context_id: id, code: '1', language: 'typescript' });
	assert.deepEqual([other.status, other.json.code], [500, 'CODE_EXECUTION_ERROR']);
	const long = await execute(server, id, `x = 1\n${'#'.repeat(1_000_000)}\nx`);
	assert.equal(long[0].text, '1', 'the longest code');
	assert.equal((await api.call('GET', '/api/interpreter/health')).status, 'healthy');
	assert.equal((await api.call('POST', `/api/contexts/${id}/interrupt`, {})).interrupted, false);
});

shared('an interrupt that comes with the code ends it, and the context keeps its variables', { timeout: 120_000 }, async (server) => {
	const id = await create(server);
	await execute(server, id, 'kept = 42');
	for (let n = 0; n < times(10, 100); n += 1) {
		const end = (await execute(server, id, 'while True: pass', { timeout_ms: 1 })).at(-1);
		assert.deepEqual([end.ename, /gone/.test(end.evalue)], ['TimeoutError', false], n);
	}
	assert.equal((await execute(server, id, 'kept'))[0].text, '42');
});

shared('an interrupt ends JavaScript in any state, and the context keeps its variables', { timeout: 240_000 }, async (server) => {
	const id = await create(server, { language: 'javascript' });
	await execute(server, id, 'const { AsyncLocalStorage } = require("node:async_hooks"); const store = new AsyncLocalStorage(); store.run(1, () => {})');
	await execute(server, id, 'process.removeAllListeners("SIGINT"); let kept = 42; const sleep = (ms) => new Promise((done) => { setTimeout(done, ms); });');
	for (const endless of [
		'for (;;);', 'await new Promise(() => {})', 'await sleep(1); for (;;);', 'await 0; try { for (;;); } finally { for (;;); }',
		'(async () => { await sleep(1); for (;;); })(); await sleep(1e8);', 'setTimeout(() => { for (;;); }, 1); await sleep(1e8);',
		'Promise.resolve().then(() => { for (;;); }); 1', '({ get a() { for (;;); } })', '/(a+)+b/.test("a".repeat(60))',
		'throw { get stack() { for (;;); } }', 'store.run(2, async () => { await 0; for (;;); }); await sleep(1e8)', 'for (;;) { console.log("y"); await 0 }',
		'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)', 'require("child_process").execSync("sleep 1000")',
	])
		for (let n = 0; n < times(1, 20); n += 1) {
			const end = (await execute(server, id, endless, { timeout_ms: n % 2 === 0 ? 50 : 1 })).at(-1);
			assert.deepEqual([end.ename, /gone/.test(end.evalue)], ['TimeoutError', false], `${endless}: ${n}`);
		}
	for (const [hides, after] of [['Error.prepareStackTrace = () => { for (;;); }', 'delete Error.prepareStackTrace'], ['const Symbol = 0; globalThis.process = {}', '']]) {
		const end = (await execute(server, id, `${hides}; store.run(3, async () => { await 0; for (;;); }); await sleep(1e8)`, { timeout_ms: 50 })).at(-1);
		assert.deepEqual([end.ename, /gone/.test(end.evalue)], ['TimeoutError', false], hides);
		await execute(server, id, after);
	}
	assert.equal((await execute(server, id, 'await sleep(1); store.run(kept, () => store.getStore())')).find(({ type }) => type === 'result')?.text, '42');
	const logged = (await execute(server, id, 'console.log("it says")')).filter(({ type }) => type === 'stdout').map(({ text }) => text).join('');
	assert.match(logged, /it says\n$/);
});

shared('JavaScript that changes its own process does not affect the executor', async (server) => {
	writeFileSync(join(server.cwd, 'pre.cjs'), 'process.chdir(__dirname); process.stdout.write("once;")');
	const id = await create(server, { language: 'javascript', env_vars: { NODE_OPTIONS: `--require ${join(server.cwd, 'pre.cjs')}` } });
	const shown = async (code) => (await execute(server, id, code)).filter(({ type }) => type !== 'execution_complete');
	assert.equal(JSON.stringify(await shown('1 + 1')).split('once;').length, 2);
	await shown('const process = { pid: 5 }, Buffer = 0, JSON = 0, Promise = 0, Error = 0, Object = 0');
	assert.equal((await shown('new Set([7])'))[0].text, 'Set(1) { 7 }');
	// Interrupted code that continues later does not become the result of other code.
	await execute(server, id, 'const sleep = () => new globalThis.Promise((done) => { globalThis.go = done; })');
	await execute(server, id, 'await sleep(); ({ of: "the first" })', { timeout_ms: 50 });
	assert.deepEqual((await shown('go(); ({ of: "the second" })'))[0].json, { of: 'the second' });
	// An error is reported however long it is, and whatever its stack getter does.
	for (const thrown of ['new globalThis.Error("\\0".repeat(1e6))', '{ n: 0, get stack() { return this.n++ ? 5 : "x"; } }', 'undefined'])
		assert.equal((await execute(server, id, `throw ${thrown}`)).at(-1).ename, 'ExecutionError', thrown);
	// A result is reported before the process has exited, and nothing else is.
	const last = await execute(server, id, 'setImmediate(() => globalThis.process.exit(0)); 42');
	assert.equal(last[0].text, '42', JSON.stringify(last));
	assert.doesNotMatch(JSON.stringify(last), /debugger/);
});

shared('modules in the directory are not loaded by the executor', async (server) => {
	const cwd = join(server.cwd, 'modules');
	mkdirSync(cwd);
	for (const name of ['ast', 'base64', 'json', 'queue', 'threading', 'traceback', 'mine']) writeFileSync(join(cwd, `${name}.py`), `raise RuntimeError('${name}')`);
	const id = await create(server, { cwd });
	assert.equal((await execute(server, id, '1 + 1'))[0].text, '2');
	assert.deepEqual(raised(await execute(server, id, 'import mine')), 'RuntimeError');
});

shared('an interrupt does not cut a result in two', { timeout: 120_000 }, async (server) => {
	const id = await create(server);
	await execute(server, id, 'kept = 42');
	for (let n = 0; n < times(3, 24); n += 1) {
		const stream = begin(server, id, `while True: display("y" * ${times(600_000, 3_000_000)})`);
		await until('the first results', () => stream.events.length > n % 4);
		await server.api.call('POST', `/api/contexts/${id}/interrupt`);
		await until('the end', () => stream.closed);
		assert.equal(stream.events.at(-1).ename, 'KeyboardInterrupt', JSON.stringify(stream.events.at(-1)).slice(0, 300));
	}
	assert.deepEqual((await execute(server, id, 'kept'))[0].text, '42', 'variables are there');
});

shared('one piece of code at a time: others wait, up to a limit', async (server) => {
	const id = await create(server);
	await begun(server, id, 'import os, time\nn = 1\nprint(n)\nwhile not os.path.exists("go"): time.sleep(0.01)');
	const all = Array.from({ length: 16 }, () => execute(server, id, 'was = n\nn = was + 1'));
	const more = Array.from({ length: 20 }, () => server.api.raw('POST', '/api/execute/code', { context_id: id, code: '"one more"' }));
	const full = await Promise.race(more);
	assert.deepEqual([full.status, full.json.code, full.json.context.maxQueued], [429, 'LIMIT_REACHED', 16]);
	writeFileSync(join(server.cwd, 'go'), '');
	await Promise.all(more);
	const ended = await Promise.all(all);
	assert.ok(ended.every((events) => events.at(-1).type === 'execution_complete'), JSON.stringify(ended));
	assert.equal((await execute(server, id, 'n'))[0].text, '17', 'each piece that waited saw the variables of the previous one');
});

shared('a client that disconnects ends its code', async (server) => {
	const id = await create(server);
	const stream = await begun(server, id, 'b = 5\nprint(1)\nwhile True: pass');
	stream.request.destroy();
	assert.equal((await execute(server, id, 'b'))[0].text, '5');
});

shared('a client that does not read blocks the code, and loses nothing', async (server) => {
	const id = await create(server);
	const at = () => Number(existsSync(join(server.cwd, 'at')) && readFileSync(join(server.cwd, 'at'), 'utf8'));
	const request = http.request(`${server.base}/api/execute/code`, { method: 'POST', agent: false, headers: { Authorization: `Bearer ${server.token}` } });
	request.end(JSON.stringify({ context_id: id,
		code: 'import os\nf = open("at", "w")\nfor i in range(300):\n  os.write(1, b"%07d\\n" % i * 8192)\n  os.pwrite(f.fileno(), str(i).encode(), 0)' }));
	const [response] = await once(request, 'response');
	let before = -1;
	// Nothing is read here: output fills all buffers, then the code blocks.
	await until('blocked code', () => { const now = at(); const still = now > 0 && now === before; before = now; return still; }, { interval: 400 });
	assert.ok(before < 290, `${before} unread pieces of 64 KiB were written`);
	let text = '';
	response.setEncoding('utf8').on('data', (data) => { text += data; });
	await once(response, 'end');
	const events = text.split('\n\n').filter(Boolean).map((each) => JSON.parse(each.slice('data: '.length)));
	assert.equal(textOf(events).length, 300 * 8192 * 8);
	assert.deepEqual(events.map(({ type }) => type).filter((type) => type !== 'stdout'), ['execution_complete']);
});

shared('code that is hostile to its executor harms only its own context', async (server) => {
	const bystander = await create(server);
	await execute(server, bystander, 'kept = "here"');
	const deaths = {
		'it closes all descriptors': 'import os\nos.closerange(0, 1024)\nprint(1)',
		'it exits': 'import os\nos._exit(7)',
		'it kills itself': 'import os\nos.kill(os.getpid(), 9)',
		'it kills its parent, from a child': 'import os, time\nif os.fork() == 0:\n  os.kill(os.getppid(), 9)\n  os._exit(0)\ntime.sleep(100)',
		'garbage on the protocol descriptor': 'import os\nfor fd in range(3, 128):\n  try: os.write(fd, b"garbage! " * 1000)\n  except OSError: pass\nwhile True: pass',
		'half a frame, then SIGKILL': 'import os\nfor fd in range(3, 128):\n  try: os.write(fd, b"rsR1\\0\\0\\1\\0{\\"run\\": 1, \\"text")\n  except OSError: pass\nos.kill(os.getpid(), 9)',
		'an invalid end of a run': 'import os\nfor fd in range(3, 128):\n  try: os.write(fd, b"rsD1\\0\\0\\0\\x0b{\\"run\\": 99}")\n  except OSError: pass\nwhile True: pass',
		'it overflows its stack': 'import sys\nsys.setrecursionlimit(10**9)\ndef f(): return f()\nclass A:\n  def __getattr__(self, n): return getattr(self, n)\nA().x\nimport os; os.abort()',
	};
	const id = await create(server);
	for (const [name, code] of Object.entries(deaths)) {
		const events = await execute(server, id, code, { timeout_ms: 20_000 });
		assert.equal(raised(events), 'ExecutorDied', `${name}: ${JSON.stringify(events.slice(-2)).slice(0, 500)}`);
		if (name === 'it exits') assert.match(events.at(-1).evalue, /^python3 exited \(exit code 7\)/);
		assert.equal((await execute(server, id, '"again"')).at(0).text, "'again'", `${name}: a new executor`);
		assert.equal((await execute(server, bystander, 'kept'))[0].text, "'here'", name);
	}
	assert.equal((await execute(server, id, 'import os\nif os.fork() == 0:\n  print("child")\nelse:\n  os.wait()\n  print("parent")')).at(-1).type,
		'execution_complete', 'a child that returns from the code does not become an executor');
	const much = times(1_000_000, 20_000_000);
	const flood = await execute(server, id, `import sys\nsys.stdout.write("x" * ${much})\n"y" * 3_000_000`);
	assert.equal(textOf(flood).length, much);
	assert.match(flood.at(-2).text, /more characters/);
	const large = await execute(server, id, '["z" * 9_000_000]');
	assert.ok(large[0].metadata.omitted.json > 9_000_000, JSON.stringify(large[0]).slice(0, 200));
	const count = times(300, 20_000);
	const many = await execute(server, id, `for i in range(${count}): display(i)`);
	assert.equal(many.length, count + 1);
});

shared('a missing interpreter is reported', async (server) => {
	const bare = join(server.home, 'bare');
	mkdirSync(bare);
	symlinkSync('/usr/bin/setsid', join(bare, 'setsid'));
	const env_vars = { PATH: bare };
	for (const [language, code] of Object.entries({ python: 'PYTHON_NOT_AVAILABLE', javascript: 'JAVASCRIPT_NOT_AVAILABLE', typescript: 'JAVASCRIPT_NOT_AVAILABLE' }))
		await server.api.refused(501, code, 'POST', '/api/contexts', { language, env_vars });
	writeFileSync(join(bare, 'python3'), '#!/bin/sh\nexit 3\n');
	chmodSync(join(bare, 'python3'), 0o755);
	await server.api.refused(500, 'INTERNAL_ERROR', 'POST', '/api/contexts', { env_vars });
	assert.deepEqual((await server.api.call('GET', '/api/contexts')).contexts, []);
});

shared('environments and directories that are hostile to the start of a context', async (server) => {
	const { api } = server;
	const rough = join(server.home, 'a "b"\n$(touch c) \'d\' é');
	mkdirSync(rough);
	const env_vars = { IFS: '0123456789', LONG: 'x'.repeat(100_000), LINES: 'a\nb=c\n', 'stat': '1 2 3', words: '(x)', POSIXLY_CORRECT: '1', CDPATH: '/', PYTHONSTARTUP: '/nonexistent' };
	for (const [language, code] of Object.entries({
		python: 'import os\n[os.getcwd(), {name: os.environ.get(name) for name in NAMES}]',
		javascript: '[process.cwd(), Object.fromEntries(NAMES.map((name) => [name, process.env[name]]))]',
	})) {
		const id = await create(server, { language, cwd: rough, env_vars });
		const [{ json }] = await execute(server, id, code.replaceAll('NAMES', JSON.stringify(Object.keys(env_vars).filter((name) => !['IFS', 'stat', 'words'].includes(name)))));
		const { IFS, stat, words, ...plain } = env_vars;
		assert.deepEqual(json, [rough, plain], language);
	}
	assert.deepEqual(readdirSync(rough), []);
	const file = join(server.home, 'file');
	writeFileSync(file, '');
	for (const cwd of [file, `${file}/below`, '/x'.repeat(3000), `/${'y'.repeat(300)}`, '', '/proc/self/nothing'])
		await api.refused(400, 'VALIDATION_FAILED', 'POST', '/api/contexts', { cwd });
	for (const env of [{ '': 'x' }, { A: 'x\0y' }, { A: 5 }, ['A'], 'A=1', Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`A${i}`, '']))])
		await api.refused(400, 'VALIDATION_FAILED', 'POST', '/api/contexts', { env_vars: env });
	for (const env of [{ SHELLOPTS: 'noexec' }, { BASH_ENV: '/dev/stdin' }, { PYTHONHOME: '/nonexistent' }]) {
		const { status } = await api.raw('POST', '/api/contexts', { env_vars: env });
		assert.ok([200, 500].includes(status), `${JSON.stringify(env)}: ${status}`);
	}
	assert.equal((await execute(server, await create(server), '1'))[0].text, '1');
});

shared('code that closes its output, or leaves it to children, ends normally', async (server) => {
	const id = await create(server);
	const ours = `1000.${process.pid}`; // a duration of sleep that no other process has
	const left = await execute(server, id, `import subprocess\np = subprocess.Popen("sleep ${ours} & exec sleep ${ours}", shell=True, start_new_session=True, close_fds=False)\nprint("on")`);
	assert.deepEqual([textOf(left), left.at(-1).type], ['on\n', 'execution_complete'], 'children that stay delay nothing');
	const forked = await execute(server, id, 'import os, time\nif os.fork() == 0:\n  os.setsid()\n  time.sleep(1000)\nprint("parent")');
	assert.deepEqual([textOf(forked), forked.at(-1).type], ['parent\n', 'execution_complete']);
	const closed = await execute(server, id, 'import os\nos.close(1)\nos.close(2)\n7');
	assert.deepEqual(closed.map(({ type }) => type), ['result', 'execution_complete'], JSON.stringify(closed));
	const printed = await execute(server, id, 'print("nowhere")');
	assert.equal(raised(printed), 'OSError', 'output that cannot be written is an error');
	assert.equal((await execute(server, id, '8'))[0].text, '8');
	const js = await create(server, { language: 'js' });
	assert.deepEqual((await execute(server, js, 'require("fs").closeSync(1); 7')).map(({ type }) => type), ['result', 'execution_complete']);
	assert.equal((await execute(server, js, '8'))[0].text, '8');
	for (const each of [id, js]) await server.api.call('DELETE', `/api/contexts/${each}`);
	await until('the end of all children', () => processesNaming(`sleep ${ours}`).length === 0);
});

shared('code that ignores signals within one C call is killed with its context', async (server) => {
	const id = await create(server);
	const stream = await begun(server, id, 'print(1)\nsum(range(10 ** 15))');
	assert.equal((await server.api.call('POST', `/api/contexts/${id}/interrupt`, {})).interrupted, true);
	await server.api.call('DELETE', `/api/contexts/${id}`);
	await until('the end', () => stream.closed);
	assert.ok(stream.events.at(-1).ename, JSON.stringify(stream.events.at(-1)));
});

shared('an executor that died while idle is reported once', async (server) => {
	const id = await create(server);
	const [{ text: pid }] = await execute(server, id, 'import threading, os\nthreading.Timer(0.2, lambda: os._exit(3)).start()\nos.getpid()');
	await until('the end of the executor', () => !existsSync(`/proc/${pid}`));
	const { status, json: refused } = await server.api.raw('POST', '/api/execute/code', { context_id: id, code: '1' });
	assert.equal(status, 500);
	assert.equal(refused.code, 'CODE_EXECUTION_ERROR');
	assert.equal((await execute(server, id, '1+1'))[0].text, '2');
});

shared('output between two pieces of code comes with the next one', async (server) => {
	const id = await create(server);
	await execute(server, id, 'import threading, os\ndef late():\n  os.write(2, b"late" * 40000)\n  open("done", "w").close()\nthreading.Timer(0.05, late).start()');
	const other = await create(server);
	await execute(server, other, 'import os, time\nwhile not os.path.exists("done"): time.sleep(0.01)', { timeout_ms: 20_000 });
	const events = await execute(server, id, '1');
	const logged = textOf(events, 'stderr').length;
	const missing = events.filter(({ type }) => type === 'truncated').reduce((sum, { bytes }) => sum + bytes, 0);
	assert.equal(logged + missing, 160_000);
	assert.equal(logged, 65_536);
});

shared('many contexts at once, each with children, are gone when they are deleted', async (server) => {
	const ids = await Promise.all(Array.from({ length: times(4, 20) }, () => create(server)));
	const code = (i) => `import subprocess\n[subprocess.Popen(["sleep", "1234.${i}"], start_new_session=bool(k % 2)) for k in range(5)]\nn = ${i}`;
	await Promise.all(ids.map((id, i) => execute(server, id, code(i))));
	const values = await Promise.all(ids.map((id) => execute(server, id, 'n')));
	assert.deepEqual(values.map(([{ text }]) => Number(text)), ids.map((_, i) => i));
	assert.equal(ofSleep().length, 5 * ids.length);
	await Promise.all(ids.map((id) => server.api.call('DELETE', `/api/contexts/${id}`)));
	await until('the end of all children', () => ofSleep().length === 0);
	assert.deepEqual((await server.api.call('GET', '/api/contexts')).contexts, []);
});
const ofSleep = () => processesNaming('1234.');

scenario('an idle context expires, and one that runs code stays', { args: ['--context-ttl', '3'] }, async (server) => {
	const busy = await create(server);
	const running = begin(server, busy, 'import time\nwhile True: time.sleep(0.01)');
	const unused = await create(server);
	const [{ text: pid }] = await execute(server, unused, 'import os; os.getpid()');
	const used = await create(server);
	const list = async () => (await server.api.call('GET', '/api/contexts')).contexts.map(({ id }) => id);
	await until('the end of the idle context', async () => {
		assert.equal((await execute(server, used, '6 * 7'))[0].text, '42');
		return !(await list()).includes(unused);
	}, { interval: 400 });
	assert.deepEqual(await list(), [busy, used]);
	await until('the end of its executor', () => !existsSync(`/proc/${pid}`));
	await server.api.refused(404, 'CONTEXT_NOT_FOUND', 'POST', '/api/execute/code', { context_id: unused, code: '1' });
	await until('the expiry in the log', () => server.stderr.includes(`${unused} reason=unused`));
	assert.ok(!running.closed);
	running.terminate();
	await until('the end of the other context', async () => (await list()).length === 0);
});

shared("a killed server's executors end with it", async (server) => {
	const idle = await create(server);
	const busy = await create(server);
	const script = await create(server, { language: 'js' });
	const pids = [Number((await execute(server, script, 'process.pid'))[0].text)];
	for (const id of [idle, busy]) pids.push(Number((await execute(server, id, 'import os; os.getpid()'))[0].text));
	await execute(server, busy, 'import subprocess\nk = [subprocess.Popen(["sleep", f"4321.{i}"], start_new_session=bool(i % 2)) for i in range(4)]');
	await execute(server, script, 'for (const detached of [true, false]) require("child_process").spawn("sleep", [detached ? "4321.8" : "4321.9"], { detached });');
	await begun(server, busy, 'print(1)\nsum(range(10 ** 15))');
	await begun(server, script, 'console.log(1); while (true);');
	await server.kill();
	const alive = () => pids.filter((pid) => { try { process.kill(pid, 0); return true; } catch { return false; } });
	await until('the end of all executors', () => alive().length === 0);
	await server.start();
	assert.deepEqual((await server.api.call('GET', '/api/contexts')).contexts, []);
	await until('the end of their children', () => processesNaming('4321.').length === 0);
	const gone = await server.api.raw('POST', '/api/execute/code', { context_id: idle, code: '1' });
	assert.deepEqual([gone.status, gone.json.code], [404, 'CONTEXT_NOT_FOUND']);
});

scenario('a link sees the contexts of its own session, not those of an earlier one of the same id', { args: ['--drivers-may-all'] }, async (server) => {
	const link = async () => {
		await server.session({ id: 's' });
		const { token } = await server.api.call('POST', '/api/session/s/links', { role: 'driver' });
		return new Api(() => server.base, { token });
	};
	const earlier = await link();
	const { contextId } = await earlier.call('POST', '/api/contexts', { language: 'python' });
	assert.equal((await earlier.call('GET', '/api/contexts')).contexts.length, 1);
	await server.api.delete('s');
	const later = await link();
	assert.deepEqual((await later.call('GET', '/api/contexts')).contexts, []);
	await later.refused(404, 'CONTEXT_NOT_FOUND', 'DELETE', `/api/contexts/${contextId}`);
	assert.equal((await server.api.call('GET', '/api/contexts')).contexts.length, 1);
});
