// What other terminals show, in one form: {cursor: [row, col], rows: [[cell]]} with a cell {text, style}, where text is
// '' for the second half of a wide character and ' ' for a blank.
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { slowness } from '../integration/lib/until.mjs';

const BUILD = process.env.RINGSIDE_BIN ?? fileURLToPath(new URL('../../build', import.meta.url));

const DEADLINE = 30_000 * slowness;
const PLAIN = { fg: '-', bg: '-', line: '-', attrs: '', under: 0 };

/** Our screen, from the lines of screen_driver's dump. */
export function ofDump(lines) {
	const [, rows, cols, , alternate] = /size (\d+) (\d+) base (\d+) alternate (\d)/.exec(lines[0]).map(Number);
	const name = alternate ? 'A' : 'P';
	const own = lines.filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}+ `));
	const [, x, y] = /cursor (\d+) (\d+)/.exec(own.find((line) => line.startsWith(`${name} cursor`))).map(Number);
	const at = own.findIndex((line) => line.startsWith(`${name} margins`));
	return {
		cursor: [y, Math.min(x, cols - 1)],
		beyond: x >= cols,
		rows: own.slice(at + 1, at + 1 + rows).map((line) => ourCells(line.slice(line.indexOf(' ') + 1), cols)),
	};
}

const color = (value) => {
	const mode = value & 0x3000000;
	if (mode === 0) return '-';
	return mode === 0x3000000 ? `#${(value & 0xffffff).toString(16).padStart(6, '0')}` : String(value & 0xff);
};

const OUR_FLAGS = [[1, 'b'], [2, 'd'], [4, 'i'], [16, 'k'], [32, 'r'], [64, 'c'], [128, 's'], [256, 'o']];

function ourStyle(text) {
	if (!text) return PLAIN;
	const [fg, bg, flags, under = '0', line = '0', link = ''] = text.split(',');
	const bits = Number.parseInt(flags, 16);
	return {
		fg: color(Number.parseInt(fg, 16)),
		bg: color(Number.parseInt(bg, 16)),
		line: bits & 8 ? color(Number.parseInt(line, 16)) : '-',
		attrs: OUR_FLAGS.filter(([bit]) => bits & bit).map(([, letter]) => letter).join(''),
		under: bits & 8 ? (bits & 1024 ? Number(under) : 1) : 0,
		link: link !== '',
	};
}

function ourCells(line, cols) {
	const cells = line.split('\x03').slice(0, -1).map((cell) => {
		const [rest, style] = cell.split('\x02');
		const [text, width = '1'] = rest.split('\x01');
		return { text: text || (width === '0' ? '' : ' '), width: Number(width), style: ourStyle(style) };
	});
	while (cells.length < cols) cells.push({ text: ' ', width: 1, style: PLAIN });
	return cells;
}

/** libvterm, in a process of its own, because it may crash. */
export class Vterm {
	#child = spawn(path.join(BUILD, 'tests/differential/painted'), { stdio: ['pipe', 'pipe', 'inherit'] });
	#waiting = [];
	#lines = [];

	constructor() {
		createInterface({ input: this.#child.stdout }).on('line', (line) => {
			if (line === '.') this.#waiting.shift()?.resolve(this.#lines.splice(0));
			else this.#lines.push(line);
		});
		this.#child.stdin.on('error', () => {}); // its exit is handled below
		this.ended = new Promise((resolve) => {
			this.#child.on('exit', (code, signal) => {
				this.#waiting.splice(0).forEach(({ reject }) => reject(new Error(`libvterm exited: ${signal ?? code}`)));
				resolve({ code, signal });
			});
		});
	}

	async #ask(line) {
		const lines = await new Promise((resolve, reject) => {
			this.#waiting.push({ resolve, reject });
			this.#child.stdin.write(`${line}\n`);
		});
		return {
			cursor: lines[0].split(' ').slice(1).map(Number),
			rows: lines.slice(1).map((row) => row.split('\x03').slice(0, -1).map((cell) => {
				if (cell === '\x01') return { text: '', style: PLAIN };
				const [text, style] = cell.split('\x02');
				const [fg, bg, attrs] = style.split(' ');
				return { text: text || ' ', style: { fg, bg, line: '-', attrs: attrs.replace(/\d/, ''), under: Number(/\d/.exec(attrs)[0]) } };
			})),
		};
	}

	paint(cols, rows, bytes) { return this.#ask(`paint ${rows} ${cols} ${Buffer.from(bytes).toString('hex')}`); }
	async widths(codes) {
		const widths = [];
		for (const code of codes) {
			const text = String.fromCodePoint(code);
			const { cursor, rows } = await this.paint(8, 1, `x${text}`);
			widths.push(cursor[1] > 1 && rows[0][1].text !== text ? -1 : cursor[1] - 1);
		}
		return widths;
	}

	more(bytes) { return this.#ask(`more ${Buffer.from(bytes).toString('hex')}`); }

	end() {
		this.#child.stdin.end();
		return this.ended;
	}
}

const DRAWN = [...'◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·']; // for ` to ~
const SGR = { 1: 'b', 2: 'd', 3: 'i', 5: 'k', 7: 'r', 8: 'c', 9: 's', 53: 'o' };

/** Apply the parameters of an SGR to a style. */
function paneStyle(style, parameters) {
	const p = parameters.split(';');
	let s = { ...style };
	for (let i = 0; i < p.length; i++) {
		const [n, sub] = p[i].split(':').map((part) => Number(part || 0));
		if (n === 0) s = { ...PLAIN };
		else if (SGR[n] && sub === undefined) s.attrs = [...new Set([...s.attrs, SGR[n]])].join('');
		else if (n === 5 && sub === 3) s.attrs = [...new Set([...s.attrs, 'o'])].join(''); // tmux writes 53 like this
		else if (n === 4) s.under = sub ?? 1;
		else if (n === 38 || n === 48 || n === 58) {
			const parts = p[i].includes(':') ? p[i].split(':').slice(1).filter((part) => part !== '') : p.slice(i + 1);
			const rgb = parts[0] === '2';
			if (!p[i].includes(':')) i += rgb ? 4 : 2;
			const name = { 38: 'fg', 48: 'bg', 58: 'line' }[n];
			s[name] = rgb ? `#${parts.slice(1, 4).map((part) => Number(part).toString(16).padStart(2, '0')).join('')}` : parts[1];
		} else if (n >= 30 && n < 38) s.fg = String(n - 30);
		else if (n >= 40 && n < 48) s.bg = String(n - 40);
		else if (n >= 90 && n < 98) s.fg = String(n - 82);
		else if (n >= 100 && n < 108) s.bg = String(n - 92);
		else if (n === 39) s.fg = '-';
		else if (n === 49) s.bg = '-';
		else if (n === 59) s.line = '-';
		else throw new Error(`SGR ${parameters}`);
	}
	return s;
}

/** A pane of tmux, in a window and a server of its own. */
export class Pane {
	#root = mkdtempSync(path.join(os.tmpdir(), 'rs-paint-'));
	#place = ['-S', path.join(this.#root, 'tmux'), '-f', '/dev/null'];
	#env = { PATH: process.env.PATH, HOME: this.#root, LANG: 'C.UTF-8', TERM: 'xterm-256color' };
	#replies = '';
	#waiting = null;
	#asked = []; // requests to the control client

	tmux(...args) {
		return new Promise((resolve, reject) => {
			execFile('tmux', [...this.#place, ...args], { env: this.#env }, (error, stdout, stderr) => {
				if (error) reject(new Error(`tmux ${args[0]}: ${stderr || error.message}`));
				else resolve(stdout);
			});
		});
	}

	/**
	 * Start a control client that reads commands from its standard input: starting one for each command is slower
	 * than the command.
	 */
	async #attach() {
		this.control = spawn('tmux', [...this.#place, '-C', 'attach-session', '-f', 'no-output,ignore-size'], { env: this.#env, stdio: ['pipe', 'pipe', 'inherit'] });
		let rest = '';
		let answer;
		this.control.stdout.setEncoding('utf8').on('data', (text) => {
			const lines = (rest + text).split('\n');
			rest = lines.pop();
			for (const line of lines) {
				const [word, , number] = line.split(' ', 3);
				if (answer === undefined) {
					if (word === '%begin') answer = { number, lines: [] };
				} else if ((word === '%end' || word === '%error') && number === answer.number) {
					const { resolve, reject } = this.#asked.shift();
					if (word === '%end') resolve(answer.lines);
					else reject(new Error(`tmux: ${answer.lines.join(' ')}`));
					answer = undefined;
				} else answer.lines.push(line);
			}
		});
		this.control.stdin.on('error', () => {}); // its exit is handled below
		this.control.on('exit', (code, signal) => this.#asked.splice(0).forEach(({ reject }) => reject(new Error(`tmux exited: ${signal ?? code}`))));
		await this.#answer(); // to the attach
	}

	#answer() {
		return new Promise((resolve, reject) => { this.#asked.push({ resolve, reject }); });
	}

	/** The lines that a command prints. */
	#ask(command) {
		this.control.stdin.write(`${command}\n`);
		return this.#answer();
	}

	async open() {
		const place = path.join(this.#root, 'relay');
		this.listener = net.createServer();
		await new Promise((resolve) => { this.listener.listen(place, resolve); });
		const connected = new Promise((resolve) => { this.listener.once('connection', resolve); });
		await this.tmux('new-session', '-d', '-x', '80', '-y', '24', process.execPath,
			fileURLToPath(new URL('paint_relay.mjs', import.meta.url)), place, ';', 'set-option', '-g', 'status', 'off', ';',
			'set-option', '-g', 'window-size', 'manual');
		this.socket = await Promise.race([connected, new Promise((_, reject) => {
			setTimeout(() => reject(new Error('the relay in tmux has not connected')), DEADLINE).unref();
		})]);
		this.socket.setEncoding('latin1').on('data', (text) => {
			this.#replies += text;
			if (this.#waiting && this.#replies.includes('\x1b[0n')) this.#waiting();
		});
		this.socket.on('error', () => {});
		await this.#attach();
		return this;
	}

	/** The columns of characters, as tmux counts them. */
	async widths(codes) {
		const line = codes.map((code) => `\r\x1b[Kx${String.fromCodePoint(code)}\x1b[6n`).join('');
		const replies = await this.feed(Buffer.from(`\x18\x1bc${line}\x1bc`));
		return [...replies.matchAll(/\x1b\[\d+;(\d+)R/g)].map(([, col]) => Number(col) - 2);
	}

	/** Feed bytes and wait until tmux has processed them. */
	async feed(bytes) {
		this.#replies = '';
		this.socket.write(Buffer.concat([Buffer.from(bytes), Buffer.from('\x1b[5n')]));
		let late;
		await new Promise((resolve, reject) => {
			this.#waiting = resolve;
			late = setTimeout(() => reject(new Error(`tmux does not answer after ${JSON.stringify(bytes.toString().slice(-200))}`)), DEADLINE);
		});
		clearTimeout(late);
		this.#waiting = null;
		return this.#replies.replace('\x1b[0n', '');
	}

	async look() {
		const [[position], lines] = await Promise.all(["display-message -p '#{cursor_y} #{cursor_x}'", 'capture-pane -epN'].map((command) => this.#ask(command)));
		const [y, x] = position.split(' ').map(Number);
		let style = PLAIN;
		let charset = false;
		const rows = lines.map((line) => {
			const cells = [];
			for (const [part, sgr, shift] of line.matchAll(/\x1b\[([\d;:]*)m|([\x0e\x0f])|[^\x1b\x0e\x0f]+/g)) {
				if (sgr !== undefined) style = paneStyle(style, sgr);
				else if (shift) charset = shift === '\x0e';
				else for (const [text] of part.matchAll(/.[\u0300-\u036f]*/gsu)) cells.push({ text: charset ? DRAWN[text.charCodeAt(0) - 0x60] ?? text : text, style });
			}
			return cells;
		});
		return { cursor: [y, x], rows };
	}

	async paint(cols, rows, bytes) {
		if (this.cols !== cols || this.rows !== rows)
			await this.#ask(`resize-window -x ${cols} -y ${rows}`);
		[this.cols, this.rows] = [cols, rows];
		this.replies = await this.feed(bytes);
		return this.look();
	}

	async close() {
		this.socket?.destroy();
		this.listener?.close();
		await this.tmux('kill-server').catch(() => {});
		rmSync(this.#root, { recursive: true, force: true });
	}
}
