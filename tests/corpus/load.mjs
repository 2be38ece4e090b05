// The corpus of terminal output, as README.md describes it:
//	for (const { name, cols, rows, steps } of loadCorpus()) …
// where a step is { bytes: Uint8Array } or { resize: [cols, rows] }.
import { readdirSync, readFileSync } from 'node:fs';

const recordings = new URL('recordings/', import.meta.url);
const synthetic = new URL('synthetic/', import.meta.url);

/** A recording of a real program. */
export function parseRecording(text) {
	const [{ cols, rows, program }, ...events] = text.trimEnd().split('\n').map((line) => JSON.parse(line));
	const steps = events.map(({ o, r }) => (r ? { resize: r } : { bytes: new Uint8Array(Buffer.from(o, 'base64')) }));
	return { cols, rows, program, steps };
}

const token = /\\(?:x(?<byte>[0-9a-fA-F]{2})|u(?<code>[0-9a-fA-F]{4}|\{[0-9a-fA-F]{1,6}\})|R\{(?<cols>\d+),(?<rows>\d+)\}|\*(?<times>\d+)\(|(?<other>.))|(?<text>[^\\]+)/gsu;
const single = { e: '\x1b', r: '\r', n: '\n', t: '\t', b: '\b', a: '\x07', '\\': '\\' };

/** Parse tokens up to the end, or to the `\)` of a group. Returns functions that call emit(bytes or step). */
function parseGroup(tokens, emit, depth) {
	const items = [];
	for (let next = tokens.next(); !next.done; next = tokens.next()) {
		const { byte, code, cols, rows, times, other, text } = next.value.groups;
		if (byte) items.push(() => emit([Number.parseInt(byte, 16)]));
		else if (code) items.push(() => emit(Buffer.from(String.fromCodePoint(Number.parseInt(code.replace('{', ''), 16)))));
		else if (cols) items.push(() => emit({ resize: [Number(cols), Number(rows)] }));
		else if (text) items.push(() => emit(Buffer.from(text)));
		else if (other in single) items.push(() => emit(Buffer.from(single[other])));
		else if (other === '|') items.push(() => emit({ bytes: [] }));
		else if (other === 'i') items.push((count) => emit(Buffer.from(String(count))));
		else if (other === ')' && depth > 0) return items;
		else if (times) {
			const group = parseGroup(tokens, emit, depth + 1);
			items.push(() => {
				for (let count = 1; count <= Number(times); count++) group.forEach((item) => item(count));
			});
		} else throw new Error(`unknown escape \\${other}`);
	}
	if (depth > 0) throw new Error('\\) is missing');
	return items;
}

/** A hand-written stream. */
export function parseVt(text) {
	const source = text.split('\n').filter((line) => !line.startsWith('#')).join('');
	const steps = [];
	const emit = (item) => {
		if (!Array.isArray(item) && !ArrayBuffer.isView(item)) steps.push(item);
		else if (!steps.at(-1)?.bytes) steps.push({ bytes: [...item] });
		else steps.at(-1).bytes.push(...item);
	};
	let end = 0;
	const tokens = (function* matches() {
		for (const match of source.matchAll(token)) {
			if (match.index !== end) break;
			end += match[0].length;
			yield match;
		}
	}());
	parseGroup(tokens, emit, 0).forEach((item) => item(0));
	if (end !== source.length) throw new Error(`cannot read ${source.slice(end, end + 20)}`);
	const [cols, rows] = steps[0]?.resize ? steps.shift().resize : [80, 24];
	return {
		cols,
		rows,
		program: null,
		steps: steps.filter(({ bytes }) => bytes?.length !== 0)
			.map(({ bytes, resize }) => (resize ? { resize } : { bytes: Uint8Array.from(bytes) })),
	};
}

function load(folder, extension, parse) {
	return readdirSync(folder).filter((file) => file.endsWith(extension)).sort().map((file) => {
		try {
			const path = new URL(encodeURIComponent(file), folder);
			return { name: file.slice(0, -extension.length), ...parse(readFileSync(path, 'utf8')) };
		} catch (error) {
			throw new Error(`${file}: ${error.message}`);
		}
	});
}

export const loadRecordings = () => load(recordings, '.rec', parseRecording);
export const loadSynthetic = () => load(synthetic, '.vt', parseVt);
export const loadCorpus = () => [...loadSynthetic(), ...loadRecordings()];
