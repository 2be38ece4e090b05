// Hostile requests, made from the API description: each route and each field with every kind of invalid value. The same seed
// makes the same requests. They do not harm the machine: no command in them can run.
import { followed, operations } from './openapi.mjs';

const deep = (open, close, depth) => open.repeat(depth) + close.repeat(depth);
const text = (bytes) => Buffer.from(bytes, 'latin1');

/** Values in JSON syntax, some of them invalid. Bytes, so that not all are UTF-8. */
export const VALUES = [
	'null', 'true', 'false', '0', '-0', '-1', '1', '0.5', '1e400', '-1e400', '1e-400', '1e15', '2147483648', '4294967296',
	'9007199254740993', '18446744073709551616', '-9223372036854775809', `1${'0'.repeat(400)}`, '[]', '{}', '""', '[[[[]]]]',
	'{"":""}', '{"a":{"b":{"c":null}}}', '["a",1,null]', '"0"', '"-1"', '"1e9"', '".."', '"../../../../etc/passwd"', '"/"', '"."',
	'"a/b"', '"a\\u0000b"', '"\\u0000"', '"\\ud800"', '"\\udc00\\ud800"', '"\\uffff"', '"\\u202e"', '"%00"', '"%s%n%d"', '"\\u001b[6n"',
	'"a\\nb\\r\\n"', '"\\ufeff"', '"__proto__"', '"constructor"', '"🎪"', '"é\\u0301"', '"*"', '"$(false)"', '"\'"',
	`"${'x'.repeat(129)}"`, `"${'é'.repeat(3000)}"`, `"${'x'.repeat(100_000)}"`, `[${'0,'.repeat(3000)}0]`,
	`{${Array.from({ length: 300 }, (_, i) => `"k${i}":"v"`)}}`, deep('[', ']', 100), deep('{"a":', '}', 40).replace('}', '1}'),
].map((value) => Buffer.from(value)).concat([
	text('"\xff\xfe"'), text('"\xc0\xaf"'), text('"\xed\xa0\x80"'), text('"\xf4\x90\x80\x80"'), text('"\xe2\x82"'), text('"a\x00b"'),
	text('"\x01"'),
]);

/** Bodies that are not JSON, or that no client would send. */
const BODIES = [
	'', ' ', '{', '}', '[', '"', 'null', 'true', '0', '[]', '"text"', '{"a"}', '{"a":}', '{,}', '{"a":1,}', "{'a':1}", '{"a":1}{"b":2}',
	'{"a":NaN}', '{"a":Infinity}', '{"a":0x10}', '{"a":01}', '{"a":+1}', '{"a":.5}', '{"a":"\\x"}', '{"a":"\\u12"}', '\ufeff{}',
	'// no\n{}', '<xml/>', 'a=b&c=d', deep('[', ']', 5000), deep('{"a":', '}', 5000), `{"a":"${'x'.repeat(300_000)}`,
	`{${'"a":1,'.repeat(5000)}"a":1}`,
].map((body) => Buffer.from(body)).concat([text('{"a\xff":1}'), text('\x00'), text('{}\x00'), text('\xff\xfe{\x00}\x00')]);

/** Parts of a path. */
const IDS = ['.', '..', '%2e%2e', '%2f', 'a%2fb', '%00', 'a%00b', '%ff', '%c0%af', '%zz', '%', '%2', '%e2%82', '%ed%a0%80', '%0a', '%0d%0aX:y',
	'%20', '%f0%9f%8e%aa', '*', ';', '-', '~', '$', "'", '__proto__', '0', '-1', 'missing', 'x'.repeat(128), 'x'.repeat(129), 'x'.repeat(3000),
	'%25%30%30', '..%5c', '%u0041', '\xff\xfe', '\xc3\xbc', '{id}', 's%00', 's/', '/s', 's?', '%73'];

/** Values in a query. */
const QUERIES = ['', '0', '-0', '-1', '1', '1.5', '1e9', '9999999999999999999', '18446744073709551616', '0x10', '+1', '%20', '%00', '%ff', '%zz', '%',
	'a%00b', 'true', 'null', 'x', '%e2%82', '%f0%9f%8e%aa', '(', '[', '.*.*.*.*', '(a*)*b', '%5c', 'x'.repeat(2000), 'a,b,,c', ',', '%26', '\xff'];

/** Valid values, so that only one value is invalid. */
const RIGHT = {
	id: '"s"', sessionId: '"s"', processId: '"q"', token: '"wrong-token-that-is-long-enough"', name: '"n"', cols: '80', rows: '24', policy: '"latest"',
	signal: '"WINCH"', data: '"x"', base64: '"eA=="', text: '"x"', keys: '["Enter"]', owner: '"me"', until: '[{"type":"exit"}]', timeoutMs: '1',
	role: '"viewer"', command: '"true"', code: '"1"', for: '"exit"', port: '1', cwd: '"/"', stdin: '"x"', queue: 'true', yieldMs: '0', from: '0',
	shell: '"bash"', env: '{"A":"b"}', streams: '"pipes"', key: '"k"', ttlMs: '1000', mode: '"exclusive"', expiresInMs: '1000', url: '"x"',
};

/** Routes that may respond late: the test does not wait. */
const MAY_WAIT = /wait$|exec|execute|run$|port-watch|stream$|events$|output|process|mcp|delete$|open$|create$/;

/** The machine's own files must not be removed: no value names one. */
const PLACES = /^"(\/|\.\.|\.\.\/.*)"$/;
const harmless = (name, value) => (/path$/i.test(name) && PLACES.test(value) ? Buffer.from('"none/../../none"') : value);

/** Requests that only end the session are left out: other requests need it. */
const schemaOf = (operation) => followed(operation.requestBody?.content?.['application/json']?.schema);
function fieldsOf(schema) {
	if (!schema) return {};
	if (schema.allOf) return Object.assign({}, ...schema.allOf.map((each) => fieldsOf(followed(each))));
	return Object.fromEntries(Object.keys(schema.properties ?? {}).map((name) => [name, schema.required?.includes(name)]));
}

export class Hostile {
	constructor(random, ids) {
		this.random = random;
		this.ids = ids; // existing objects, by the name of the parameter
	}

	/** A request to this route: {method, route, path, body, hostilePath, mayWait}. */
	request({ method, path, operation }) {
		const { random } = this;
		const parameters = (operation.parameters ?? []).map(followed);
		const inPath = parameters.filter((each) => each.in === 'path');
		const inQuery = parameters.filter((each) => each.in === 'query');
		const body = method === 'post' || method === 'put';
		const where = random.pick([...(inPath.length ? ['path'] : []), ...(inQuery.length ? ['query', 'query'] : []), ...(body ? ['field', 'field', 'field', 'body'] : ['query'])]);
		const broken = where === 'path' && random.pick(inPath).name;
		let target = path.replace(/\{(\w+)\}/g, (_, name) => (name === broken ? random.pick(IDS) : this.ids[name] ?? 'missing'));
		if (where === 'query') {
			const names = inQuery.map(({ name }) => name).concat('unknown');
			const parts = Array.from({ length: 1 + random.below(3) }, () => `${random.pick(names)}=${random.pick(QUERIES)}`);
			target += `?${parts.join('&')}`;
		}
		return {
			method: method.toUpperCase(), route: path, path: target, hostilePath: where === 'path',
			body: body ? this.body(operation, where) : undefined, mayWait: MAY_WAIT.test(path),
		};
	}

	body(operation, where) {
		const { random } = this;
		if (where === 'body') return random.pick(BODIES);
		const fields = fieldsOf(schemaOf(operation));
		const names = Object.keys(fields);
		const chosen = names.filter((name) => fields[name] || random.below(4) === 0);
		const wrong = new Set(where === 'field' ? Array.from({ length: 1 + random.below(2) }, () => random.pick([...names, 'unknown'])) : []);
		return this.object([...new Set([...chosen, ...wrong])], wrong);
	}

	/** An object with valid fields, except for these. */
	object(names, wrong) {
		const { random } = this;
		const parts = names.flatMap((name) => {
			const value = wrong.has(name) ? harmless(name, random.pick(VALUES)) : Buffer.from(RIGHT[name] ?? '"x"');
			const part = Buffer.concat([Buffer.from(`${JSON.stringify(name)}:`), value]);
			return wrong.has(name) && random.below(8) === 0 ? [part, part] : [part];
		});
		return Buffer.concat([Buffer.from('{'), ...parts.flatMap((part, at) => (at ? [Buffer.from(','), part] : [part])), Buffer.from('}')]);
	}

	/** `each` requests per route in random order, without draining, which would refuse most of the others, and upgrades. */
	*requests(each) {
		const all = operations.filter(({ path: route }) => !['/api/drain', '/api/upgrade'].includes(route)).flatMap((operation) => Array.from({ length: each }, () => operation));
		for (let at = all.length - 1; at > 0; at -= 1) {
			const other = this.random.below(at + 1);
			[all[at], all[other]] = [all[other], all[at]];
		}
		for (const operation of all) yield this.request(operation);
	}
}
