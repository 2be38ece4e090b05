/*
 * The server's screen (through screen_driver) and headless xterm.js side by side: both can be fed, resized and dumped
 * in the same form.
 */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import xterm from '@xterm/headless';
import { graphemes, ImageCells, useUnicode } from './page.mjs';

const BUILD = process.env.RINGSIDE_BIN ?? fileURLToPath(new URL('../../build', import.meta.url));
const DRIVER = process.env.SCREEN_DRIVER ?? path.join(BUILD, 'tests/screen_driver');
const SIDE_MIN = 2;
const ESC = 0x1b;
const DEL = 0x7f;
const TITLE_MAX = 4096; // bytes
const CLUSTER_MAX = 32; // characters of a cell
const KITTY = 0x1f; // flags of the kitty keyboard protocol that exist; the server keeps no others

/** Our screen, in its own process. */
export class Ours {
	#child = spawn(DRIVER, { stdio: ['pipe', 'pipe', 'inherit'] });
	#waiting = [];
	#lines = [];

	constructor() {
		createInterface({ input: this.#child.stdout }).on('line', (line) => {
			const first = this.#waiting[0];
			if (first === undefined)
				return;
			if (!first.many) {
				this.#waiting.shift();
				first.resolve(line);
			} else if (line === '.') {
				this.#waiting.shift();
				first.resolve(this.#lines.splice(0));
			} else {
				this.#lines.push(line);
			}
		});
		this.#child.on('exit', (code, signal) => {
			for (const { reject } of this.#waiting.splice(0))
				reject(new Error(`the driver exited: ${code ?? signal}`));
		});
	}

	#send(line) {
		this.#child.stdin.write(`${line}\n`);
	}

	#ask(line, many) {
		return new Promise((resolve, reject) => {
			this.#waiting.push({ resolve, reject, many });
			this.#send(line);
		});
	}

	start(cols, rows, scrollback, unicode = 'wcwidth') { this.#send(`new ${rows} ${cols} ${scrollback} ${unicode}`); }
	feed(bytes) {
		if (bytes.length > 0)
			this.#send(`feed ${Buffer.from(bytes).toString('hex')}`);
	}
	resize(cols, rows) { this.#send(`size ${rows} ${cols}`); }
	/** For each byte, whether it leaves the parser between two sequences and two characters. */
	async grounds(bytes) {
		return [...await this.#ask(`grounds ${Buffer.from(bytes).toString('hex')}`)].map((flag) => flag === '1');
	}

	async resumeOffset() { return Number(await this.#ask('resume')); }
	async widths() { return Buffer.from(await this.#ask('widths'), 'latin1').map((width) => width - 48); }
	wcwidths() { return this.#ask('wcwidths'); }
	graphemes() { return this.#ask('graphemes'); }
	dump() { return this.#ask('dump', true); }
	/** The snapshot that the page gets: with images. */
	async marked(lines) { return Buffer.from(await this.#ask(`marked ${lines}`), 'hex'); }
	async snapshot(lines) { return Buffer.from(await this.#ask(`snapshot ${lines}`), 'hex'); }
	async replies() { return Buffer.from(await this.#ask('replies'), 'hex').toString('latin1'); }
	async events() { return Number(await this.#ask('events')); }
	end() { this.#child.stdin.end(); }
}

const FLAGS = { fg: [[0x8000000, 1], [0x10000000, 8], [0x20000000, 16], [0x4000000, 32], [0x40000000, 64],
	[0x80000000, 128]], bg: [[0x8000000, 2], [0x4000000, 4], [0x40000000, 256], [0x20000000, 512],
	[0x10000000, 1024]] };

function color(value) {
	const mode = value & 0x3000000;
	return (mode === 0 ? 0 : mode | (mode === 0x3000000 ? value & 0xffffff : value & 0xff)) >>> 0;
}

function flags(fg, bg) {
	let all = 0;
	for (const [bit, flag] of FLAGS.fg)
		all |= fg & bit ? flag : 0;
	for (const [bit, flag] of FLAGS.bg)
		all |= bg & bit ? flag : 0;
	return all;
}

const hex = (value) => value.toString(16);

const d = (...values) => values.map((value) => (value ? 1 : 0)).join('');

const PLAIN = '0,0,0'; // the default style
const CONTENT = 0x3fffff; // bits of xterm.js' cells: the character, or that there are several
const styles = new Map();

/** [flags, text] of a pair of attributes, cached: there are few pairs and millions of cells. */
function styleOf(fg, bg) {
	if (!styles.has(fg))
		styles.set(fg, new Map());
	const those = styles.get(fg);
	let style = those.get(bg);
	if (!style) {
		const all = flags(fg, bg);
		style = [all, `${hex(color(fg))},${hex(color(bg))},${hex(all)}`];
		those.set(bg, style);
	}
	return style;
}

/** A title, cut as the server does. */
function title(text) {
	const bytes = Buffer.from(text);
	let end = Math.min(bytes.length, TITLE_MAX);
	while (end < bytes.length && (bytes[end] & 0xc0) === 0x80)
		end--;
	return bytes.subarray(0, end).toString();
}

/*
 * xterm.js has a bug that loses text when lines are reflowed to fewer columns. The server does not copy it, so it is
 * fixed here.
 */
function mend(buffer) {
	const lines = Object.getPrototypeOf(buffer.lines);
	const line = Object.getPrototypeOf(buffer.lines.get(0));
	const { set } = lines;
	const { addCodepointToCell } = line;
	if (set.mended)
		return;
	/* When there are too many lines, those that no longer fit at the top overwrite those at the bottom. */
	lines.set = function setUnlessBefore(index, value) {
		if (index >= 0)
			set.call(this, index, value);
	};
	lines.set.mended = true;
	/* A cell holds at most CLUSTER_MAX characters, though more of them may still make it wider. */
	line.addCodepointToCell = function addUnlessFull(at, code, width) {
		const text = this.isCombined(at) ? this._combined[at] : '';
		addCodepointToCell.call(this, at, code, width);
		if ([...text].length >= CLUSTER_MAX)
			this._combined[at] = text;
	};
}

/** xterm.js, as the page uses it. */
export class Reference {
	constructor(cols, rows, scrollback, unicode = 'wcwidth') {
		this.terminal = new xterm.Terminal({ cols, rows, scrollback, allowProposedApi: true,
			logLevel: 'off', vtExtensions: { colorSchemeQuery: false, kittyKeyboard: true },
			windowOptions: { pushTitle: true, popTitle: true } });
		useUnicode(this.terminal, unicode);
		this.images = new ImageCells(this.terminal, () => {});
		this.core = this.terminal._core;
		mend(this.core._bufferService.buffers.normal);
		this.replies = '';
		this.colors = new Map();
		this.core._inputHandler.onColor((events) => events.forEach((event) => this.#color(event)));
		this.terminal.onData((data) => { this.replies += data; });
		this.dead = false;
	}

	/** The colours that the program has set, as the page's theme follows them. */
	#color({ type, index, color }) {
		if (type === 1)
			this.colors.set(index, color.map((part) => part.toString(16).padStart(2, '0')).join(''));
		else if (type === 2 && index === undefined)
			[...this.colors.keys()].filter((key) => key < 256).forEach((key) => this.colors.delete(key));
		else if (type === 2)
			this.colors.delete(index);
	}

	/**
	 * Returns false if xterm.js failed. A control behind ESC [ makes xterm.js ignore a prefix that follows, but only if
	 * all come in one write; so the write is split there.
	 */
	feed(bytes) {
		const handler = this.core._inputHandler;
		const all = Uint8Array.from(bytes);
		let from = 0;
		try {
			for (let at = all.indexOf(ESC); at >= 0; at = all.indexOf(ESC, at + 1))
				if (all[at + 1] === 0x5b && (all[at + 2] < 0x20 || all[at + 2] === DEL)) {
					handler.parse(all.subarray(from, at + 1));
					from = at + 1;
				}
			handler.parse(all.subarray(from));
		} catch {
			this.dead = true;
		}
		return !this.dead;
	}

	/** Feed a snapshot, which may name images. */
	feedSnapshot(bytes) {
		this.images.beginSnapshot();
		const ok = this.feed(bytes);
		this.images.endSnapshot();
		return ok;
	}

	resize(cols, rows) {
		try {
			this.terminal.resize(Math.max(cols, SIDE_MIN), Math.max(rows, 1));
		} catch {
			this.dead = true;
			return;
		}
		/* An unused alternate buffer keeps its old limit, and would thereby get a scrollback. */
		const { alt } = this.core._bufferService.buffers;
		if (alt.lines.length === 0)
			alt.lines.maxLength = this.terminal.rows;
	}

	/** Free the terminal. Returns null. */
	end() {
		this.terminal.dispose();
		return null;
	}

	/**
	 * Remove halves of wide characters that no bytes produce: a second half in the first column or, alone, in the
	 * last two; a first half in the last column, whose background stays, or before another wide character or one in
	 * another style. If an empty cell in another style follows, give it the second half. An empty cell in the last
	 * column of the last row has no style but a background.
	 */
	#forgetHalves(line, cols, last, blank) {
		const isTail = (x) => line.getWidth(x) === 0 && !line.hasContent(x);
		const background = (x) => line.setCell(x, { content: blank.content, fg: 0, bg: line.getBg(x) & 0x3ffffff, extended: blank.extended });
		const style = (x) => `${line.getFg(x)} ${line.getBg(x)}`;
		if (isTail(0))
			line.setCell(0, blank);
		for (let x = Math.max(cols - 2, 1); x < cols; x++)
			if (isTail(x) && line.getWidth(x - 1) !== 2)
				line.setCell(x, blank);
		if (line.getWidth(cols - 1) === 2)
			background(cols - 1);
		for (let x = 0; x + 1 < cols; x++) {
			if (line.getWidth(x) !== 2 || isTail(x + 1) || (style(x) === style(x + 1) && line.getWidth(x + 1) < 2))
				continue;
			if (line.hasContent(x + 1))
				background(x);
			else
				line.setCell(x + 1, { content: 0, fg: line.getFg(x), bg: line.getBg(x), extended: line._extendedAttrs[x] ?? blank.extended });
		}
		if (last && line.getWidth(cols - 2) !== 2 && line.getWidth(cols - 1) === 1 && !line.hasContent(cols - 1)
			&& !this.#edgeStays(line, cols))
			background(cols - 1);
	}

	/** Whether the rest of the last row can be drawn after the content of its last column. */
	#edgeStays(line, cols) {
		if (line.getWidth(cols - 2) === 1 && !line.hasContent(cols - 2)
			&& (line.getFg(cols - 2) !== 0 || (line.getBg(cols - 2) & ~0x3ffffff) !== 0))
			return false;
		for (let x = 0; x + 1 < cols; x++)
			if (line.getWidth(x) === 2 && line.getWidth(x + 1) === 0 && !line.hasContent(x + 1))
				x++;
			else if (line.getWidth(x) === 2 || (line.getWidth(x) === 0 && !line.hasContent(x)))
				return false;
		return true;
	}

	/** Change a pen that DECRC restored from the other buffer to one of the same look that SGR can make. */
	#forgetPen(saved) {
		const pen = this.core._inputHandler._curAttrData;
		const [underline, extended] = [0x10000000, 0x10000000];
		const any = pen.extended.underlineStyle !== 0 || pen.extended.urlId !== 0;
		const settled = any === ((pen.bg & extended) !== 0);
		if (((pen.fg ^ saved.fg) & underline) === 0 && (settled || ((pen.bg ^ saved.bg) & extended) === 0))
			return;
		const ext = pen.extended.clone();
		if (pen.fg & underline && !(pen.bg & extended))
			ext.underlineColor = 0;
		const link = pen.bg & extended ? ext.urlId : 0;
		ext.urlId = 0; // with a link, the style's own value is reported
		if (!(pen.fg & underline))
			ext.underlineStyle = 0;
		else if (!(pen.bg & extended) || (ext.underlineStyle === 0 && link !== 0))
			ext.underlineStyle = 1;
		pen.fg = ext.underlineStyle ? pen.fg | underline : pen.fg & ~underline;
		pen.bg = ext.underlineStyle || link ? pen.bg | extended : pen.bg & ~extended;
		ext.urlId = link;
		pen.extended = ext;
	}

	/** Charsets that are designated for what DECSC saved stay designated. buffers: in the order in which a snapshot saves. */
	#forgetUndesignated(buffers) {
		const charset = this.core._charsetService;
		let most = 0;
		const extend = (slots) => {
			most = Math.max(most, slots.length);
			while (slots.length < most)
				slots.push(undefined);
		};
		for (const b of buffers) {
			const pen = b.savedCurAttrData;
			if (b.savedX > 0 || b.savedY > 0 || pen.fg || pen.bg || b.savedOriginMode || !b.savedWraparoundMode
				|| b.savedCharsets.length > 0 || b.savedGlevel > 0)
				extend(b.savedCharsets);
		}
		extend(charset.charsets);
	}

	/**
	 * Remove what no bytes produce in another terminal of this size, though a resize may reveal it: cells and tab
	 * stops beyond the right edge, some halves, and saved cursors outside of the screen. In the alternate buffer
	 * the cursor waits only after a blank.
	 */
	forget() {
		const { cols, rows } = this.terminal;
		const { normal, alt } = this.core._bufferService.buffers;
		const blank = alt.getNullCell();
		for (const buffer of [normal, alt]) {
			for (let y = 0; y < buffer.lines.length; y++) {
				const line = buffer.lines.get(y);
				this.#forgetHalves(line, cols, y + 1 === buffer.lines.length, blank);
				if (line.length > cols)
					line.resize(cols, blank);
			}
			for (const x of Object.keys(buffer.tabs))
				if (x >= cols)
					delete buffer.tabs[x];
		}
		const { active } = this.core._bufferService.buffers;
		this.#forgetUndesignated(active === alt ? [normal, alt] : [alt, normal]);
		const row = active.lines.get(active.ybase + active.y);
		if (active === alt && active.x >= cols && row.getTrimmedLength() > 0 && !row.hasContent(cols - 1) && row.getWidth(cols - 1) === 1)
			row.setCell(cols - 1, { content: 1 << 22 | 32, fg: 0, bg: row.getBg(cols - 1) & 0x3ffffff, extended: blank.extended });
		if (active === alt)
			this.#forgetPen(alt.savedCurAttrData);
		alt.savedX = Math.min(alt.savedX, cols);
		alt.savedY = Math.min(alt.savedY, rows - 1);
		normal.savedX = Math.min(normal.savedX, cols);
		normal.savedY = Math.max(normal.savedY, 0);
	}

	#style(fg, bg, extended) {
		if (bg & 0x10000000 && extended?.payload !== undefined) {
			const { image, row, first } = extended.payload;
			return `image ${row} ${first} ${image.width}x${image.height}`;
		}
		const [all, plain] = styleOf(fg, bg);
		let text = plain;
		if (all & 1024)
			text += `,${extended.underlineStyle},${hex(color(extended.underlineColor))},`
				+ `${extended.urlId ? this.core._oscLinkService.getLinkData(extended.urlId)?.uri ?? '?' : ''}`;
		return text;
	}

	#line(name, line, cols) {
		const data = line._data;
		const end = Math.min(cols, line.length);
		let text = '';
		let extent = 0; // length up to the last cell that is not blank
		for (let x = 0; x < end; x++) {
			const content = data[x * 3];
			const fg = data[x * 3 + 1];
			const bg = data[x * 3 + 2];
			const width = content >> 22;
			const style = fg === 0 && bg === 0 ? PLAIN : this.#style(fg, bg, line._extendedAttrs[x]);
			const blank = (content & CONTENT) === 0;
			if (!blank)
				text += line.getString(x);
			if (width !== 1)
				text += `\x01${width}`;
			if (style !== PLAIN)
				text += `\x02${style}`;
			text += '\x03';
			if (!blank || width !== 1 || style !== PLAIN)
				extent = text.length;
		}
		return `${name}${line.isWrapped ? '+' : ''} ${text.slice(0, extent)}`;
	}

	#charset(charset) {
		const { charsets } = this;
		return charset === undefined ? 'B' : charsets.get(charset) ?? '?';
	}

	/** Names of the charset objects, found by probing a terminal. */
	get charsets() {
		if (Reference.charsets)
			return Reference.charsets;
		const names = new Map();
		const probe = new xterm.Terminal({ allowProposedApi: true, logLevel: 'off' });
		for (const final of '0A4CRQKYEZH=') {
			probe._core._inputHandler.parse(`\x1b(${final}`);
			const charset = probe._core._charsetService.charset;
			if (charset !== undefined)
				names.set(charset, final);
		}
		Reference.charsets = names;
		return names;
	}

	/** The slots that have been designated, the one in use, and its charset. */
	#charsets(slots, level) {
		return `-${Array.from(slots, (slot) => this.#charset(slot)).join('')} ${level} ${this.#charset(slots[level])}`;
	}

	#buffer(name, buffer, cols) {
		const saved = buffer.savedCurAttrData;
		const { kittyKeyboard: all } = this.core.coreService;
		const keyboard = name === 'P' ? { flags: all.mainFlags, stack: all.mainStack } : { flags: all.altFlags, stack: all.altStack };
		const tabs = [];
		for (let x = 0; x < cols; x++)
			if (buffer.tabs[x])
				tabs.push(` ${x}`);
		const out = [
			...(buffer.lines.length > 0 ? [`${name} cursor ${Math.min(buffer.x, cols)} ${buffer.y}`] : []),
			`${name} saved ${buffer.savedX} ${buffer.savedY} ${hex(color(saved.fg))} ${hex(color(saved.bg))} `
				+ `${hex(flags(saved.fg, saved.bg))} ${d(buffer.savedOriginMode, buffer.savedWraparoundMode)} `
				+ this.#charsets(buffer.savedCharsets, buffer.savedGlevel),
			`${name} kitty ${keyboard.flags & KITTY}${keyboard.stack.map((flags) => ` ${flags & KITTY}`).join('')}`,
			`${name} margins ${buffer.scrollTop} ${buffer.scrollBottom} tabs${tabs.join('')}`,
		];
		const lines = [];
		for (let y = 0; y < buffer.lines.length; y++)
			lines.push(this.#line(name, buffer.lines.get(y), cols));
		return [...lines.slice(0, buffer.ybase), ...out, ...lines.slice(buffer.ybase)];
	}

	dump() {
		const { core, terminal } = this;
		const { cols, rows } = terminal;
		const { buffers } = core._bufferService;
		const { active, normal, alt } = buffers;
		const handler = core._inputHandler;
		const pen = handler._curAttrData;
		const charset = core._charsetService;
		const m = core.coreService.decPrivateModes;
		const { options } = core.optionsService;
		const style = { undefined: 0, block: 1, underline: 3, bar: 5 }[m.cursorStyle];
		const mouse = core.mouseStateService;
		return [
			`size ${rows} ${cols} base ${normal.ybase} alternate ${active === alt ? 1 : 0}`,
			`pen ${hex(color(pen.fg))},${hex(color(pen.bg))},${hex(flags(pen.fg, pen.bg))},`
				+ `${pen.extended.underlineStyle},${hex(color(pen.extended.underlineColor))}`,
			`charsets ${this.#charsets(charset.charsets, charset.glevel)}`,
			`kitty ${core.coreService.kittyKeyboard.flags & KITTY}`,
			`modes ${d(m.applicationCursorKeys, m.applicationKeypad, m.origin, m.wraparound, m.reverseWraparound,
				core.coreService.modes.insertMode, options.convertEol, core.coreService.isCursorHidden,
				m.bracketedPasteMode, m.sendFocus, m.synchronizedOutput,
				terminal.unicode.activeVersion === graphemes.version)} `
				+ `style ${style === 0 ? 0 : style + (m.cursorBlink ? 0 : 1)} `
				+ `mouse ${['NONE', 'X10', 'VT200', 'DRAG', 'ANY'].indexOf(mouse.activeProtocol)} `
				+ `${['DEFAULT', 'SGR', 'SGR_PIXELS'].indexOf(mouse.activeEncoding)}`,
			`title ${title(handler._windowTitle)}`,
			`icon ${title(handler._iconName)}`,
			`titles ${JSON.stringify(handler._windowTitleStack.map(title))} ${JSON.stringify(handler._iconNameStack.map(title))}`,
			`colors${[...this.colors].sort(([a], [b]) => a - b).map(([key, value]) => ` ${key}=${value}`).join('')}`,
			...this.#buffer('P', normal, cols),
			...this.#buffer('A', alt, cols),
		];
	}
}

/* xterm.js drops a link once all lines where it registered it are gone, even if its cells are still there. */
function withoutLinks(line) {
	return line.replace(/(\x02[^\x03]*,)[^,\x03]+\x03/g, '$1?\x03');
}

function same(ours, theirs) {
	return ours === theirs || (ours !== undefined && theirs !== undefined && `${ours}${theirs}`.includes(',?\x03')
		&& withoutLinks(ours) === withoutLinks(theirs));
}

/** A style as it looks: DECRC may restore that there was an underline or a link, but leaves the stored details unchanged. */
function look(fg, bg, flags, underline = '0', color = '0', link = '') {
	const all = parseInt(flags, 16);
	const line = !(all & 8) ? 0 : all & 0x400 ? Number(underline) : 1;
	const marks = (line ? 0x408 : 0) | (link ? 0x400 : 0);
	return `${fg},${bg},${hex((all & ~0x408) | marks)}${marks ? `,${line},${color},${link}` : ''}`;
}

/**
 * The part of a dump that a snapshot restores. It leaves out: that output is held back (?2026); the column of the
 * primary buffer's cursor while the alternate buffer is active, which has no effect; saved cursors outside of the
 * screen, because an inactive buffer does not follow resizes; invisible details of underlines and links; and that a slot
 * has been designated as ASCII.
 */
export function restorable(dump) {
	const [, rows, cols, alternate] = /^size (\d+) (\d+) base \d+ alternate (\d)/.exec(dump[0]);
	const saved = (line, name, x, y, fg, bg, flags) => `${name} saved ${Math.min(x, cols)} `
		+ `${Math.max(0, name === 'A' ? Math.min(y, rows - 1) : y)} ${fg} ${bg} `
		+ hex(parseInt(flags, 16) | (parseInt(flags, 16) & 8 ? 0x400 : 0));
	return dump.map((line) => (!/^modes|^pen|^charsets|^P cursor|^[PA] saved|\x02|\x03$/.test(line) ? line : line
		.replace(/^(charsets|[PA] saved.*) -(\S*?)B* (\d \S)$/, '$1 -$2 $3')
		.replace(/^(modes \d{10})\d/, '$1-')
		.replace(alternate === '1' ? /^(P cursor) \d+/ : /^$/, '$1 -')
		.replace(/^([PA]) saved (\d+) (-?\d+) (\w+) (\w+) (\w+)/, saved)
		.replace(/^pen (.*)/, (all, pen) => `pen ${look(...pen.split(','))}`)
		.replace(/\x02([^\x03]*)\x03/g, (all, style) => `\x02${look(...style.split(','))}\x03`.replace('\x020,0,0\x03', '\x03'))
		.replace(/(^[PA]\+? |\x03)\x03+$/, '$1')));
}

/** The first difference of two dumps, or null. */
export function difference(ours, theirs) {
	for (let i = 0; i < Math.max(ours.length, theirs.length); i++)
		if (!same(ours[i], theirs[i]))
			return { line: i, ours: ours[i], theirs: theirs[i] };
	return null;
}
