// A table of expected and actual values, which is printed completely and fails on differences.
import assert from 'node:assert/strict';

/** Rows and columns have names. Values for several transports share a cell. An actual value is right if it is one of the expected ones. */
export class Table {
	constructor(t, { title, columns = [''], shorten = String } = {}) {
		Object.assign(this, { t, title, columns, shorten, rows: new Map(), wrong: [] });
	}

	/** how: the transport, for messages. */
	add(name, expected, got, { column = '', how } = {}) {
		const wanted = [expected].flat();
		const right = wanted.includes(got);
		const row = this.rows.get(name) ?? new Map();
		const cell = row.get(column) ?? { expected: new Set(), got: new Set() };
		cell.expected.add(wanted.map(this.shorten).join('|'));
		cell.got.add(right ? this.shorten(got) : `${this.shorten(got)}!`);
		this.rows.set(name, row.set(column, cell));
		if (!right) this.fail(`${[name, column && `by ${column}`, how && `over ${how}`].filter(Boolean).join(' ')}: expected ${wanted.join(' or ')}, got ${got}`);
	}

	/** Record another failure. */
	fail(what) {
		this.wrong.push(what);
	}

	print() {
		const cells = (name) => this.columns.map((column) => {
			const { expected, got } = this.rows.get(name).get(column) ?? { expected: ['-'], got: ['-'] };
			return [...expected].join('/').padEnd(this.columns.length > 1 ? 0 : 12) + (this.columns.length > 1 ? ': ' : '  ') + [...got].join('/');
		});
		const lines = [...this.rows.keys()].map((name) => [name, ...cells(name)]);
		if (this.columns.length > 1) lines.unshift([this.title ?? '', ...this.columns]);
		else if (this.title) this.t.diagnostic(this.title);
		const widths = lines[0]?.map((_, at) => Math.max(...lines.map((line) => line[at].length))) ?? [];
		for (const line of lines) this.t.diagnostic(line.map((text, at) => text.padEnd(widths[at])).join('  ').trimEnd());
	}

	done() {
		this.print();
		assert.deepEqual(this.wrong, []);
	}
}
