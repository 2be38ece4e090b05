/*
 * Names of files in the terminal as links. A name is a link if the server says that it is a file that may be read. The server
 * is asked about the line under the pointer, once for all names in it. Loaded after the terminal has connected.
 */
import type { ILink, ILinkProvider, Terminal } from '@xterm/xterm';
import type { Block } from '../blocks/block';
import type { FileFacts } from '../net/wire';
import { placeOf, readLine } from '../search/lines';
import { directoriesOf, pathsOf, type Directory } from './directories';
import type { KnownFiles } from './known_files';
import { findNames, type Candidate, type Reading } from './name_finder';
import { isClean } from './names';

const ROWS_MAX = 50; // rows of a wrapped line, as in readLine()
const AROUND_MAX = 4096; // characters of the line before and after the row: a path is not longer
const PATHS_MAX = 200; // in one request
const CHANGES_MAX = 3;
const CLICK_MS = 3000; // that a click waits for the server

export interface FileLinksOptions {
	readonly terminal: Terminal;
	readonly mount: HTMLElement;
	readonly known: KnownFiles;
	/** The command that has printed a row, or null. */
	blockAt(row: number): Block | null;
	/** The user has activated the link of a file. */
	open(facts: FileFacts, event: MouseEvent): void;
}

/** A place in the window, in pixels. */
interface Point {
	readonly clientX: number;
	readonly clientY: number;
}

/** Of the buffer. */
interface Cell {
	readonly row: number;
	readonly column: number;
}

/** The text around a row of the buffer. */
interface Line {
	readonly row: number; // its first row
	readonly pieces: readonly string[]; // the text of each row
	readonly text: string;
}

export class FileLinks implements ILinkProvider {
	#options: FileLinksOptions;
	#pointer: MouseEvent | null = null; // its last place over the terminal
	#left = false; // the pointer has left the terminal since
	#row = -1; // that xterm.js has last asked for links of
	#text: string | null = null; // of its line then
	#changes = 0; // of the line while the server was asked, since the pointer was moved
	#asking = false; // the server is asked about that line
	#click: { readonly cell: Cell; readonly at: number } | null = null; // on that row, meanwhile
	#leaving = false; // an event of #leaveRow() is handled
	#opens = false; // the link that is hovered next was clicked

	constructor(options: FileLinksOptions) {
		this.#options = options;
		const { terminal, mount, known } = options;
		mount.addEventListener('mousemove', (event) => this.#onMove(event), { capture: true });
		mount.addEventListener('mouseleave', () => {
			this.#pointer = null;
			this.#left = true;
			if (this.#click === null) // the pointer of a tap may leave at once
				known.cancel();
		});
		mount.addEventListener('click', (event) => this.#onClick(event));
		for (const type of ['pointerdown', 'keydown', 'wheel'])
			mount.addEventListener(type, () => {
				this.#click = null;
			}, { capture: true, passive: true });
		terminal.registerLinkProvider(this);
	}

	/**
	 * Called by xterm.js when the pointer enters another row. It shows no link of any kind before all providers have answered,
	 * so this answers at once, and the pointer seems to enter the row again when the server has answered.
	 */
	provideLinks(y: number, callback: (links: ILink[] | undefined) => void): void {
		callback(this.#leaving || this.#options.known.refused ? undefined : this.#linksIn(y - 1));
	}

	#linksIn(row: number): ILink[] | undefined {
		const { known, blockAt } = this.#options;
		const line = this.#lineAt(row);
		this.#row = row;
		this.#text = line?.text ?? null;
		this.#asking = false;
		known.cancel();
		if (line === null)
			return undefined;
		const from = line.pieces.slice(0, row - line.row).join('').length;
		const candidates = findNames(line.text, from, from + (line.pieces[row - line.row]?.length ?? 0));
		const directories = directoriesOf(blockAt(row));
		const paths = pathsToAsk(candidates, directories);
		if (paths.length === 0)
			return undefined;
		const facts = known.get(paths);
		if (facts !== null)
			return this.#makeLinks(line, candidates, directories, facts);
		this.#asking = true;
		known.ask(paths, (answered) => this.#onAnswer(row, answered));
		return undefined;
	}

	/** null if it is empty, or if clicks belong to the program. */
	#lineAt(row: number): Line | null {
		const { terminal } = this.#options;
		return terminal.modes.mouseTrackingMode === 'none' ? lineAround(terminal, row) : null;
	}

	#makeLinks(line: Line, candidates: readonly Candidate[], directories: readonly Directory[],
		facts: ReadonlyMap<string, FileFacts | null>): ILink[] {
		const links: ILink[] = [];
		const taken: Reading[] = [];
		for (const candidate of candidates) {
			const found = fileOf(candidate, directories, facts);
			if (found === null || taken.some(({ start, end }) => start < found.reading.end && found.reading.start < end))
				continue;
			taken.push(found.reading);
			links.push(this.#makeLink(line, found.reading, found.facts));
		}
		return links;
	}

	#makeLink(line: Line, { start, end, name }: Reading, facts: FileFacts): ILink {
		const { terminal, open } = this.#options;
		const { row, column, size } = placeOf(terminal.buffer.active, line.row, line.pieces, start, end - start, terminal.cols);
		const last = column + size - 1;
		return {
			text: name,
			range: {
				start: { x: column + 1, y: row + 1 },
				end: { x: last % terminal.cols + 1, y: row + Math.floor(last / terminal.cols) + 1 },
			},
			activate: (event) => {
				// A selection was made, by a double click or by dragging.
				if (event.button === 0 && !terminal.hasSelection())
					open(facts, event);
			},
			hover: (event) => {
				if (this.#opens)
					open(facts, event);
				this.#opens = false;
			},
		};
	}

	/** xterm.js does not notice that the row under the pointer has other text now, or that the pointer comes back to its cell. */
	#onMove(event: MouseEvent): void {
		if (!event.isTrusted || this.#options.known.refused)
			return;
		this.#pointer = event;
		this.#changes = 0;
		const { row } = this.#cellAt(event);
		if (row === this.#row && (this.#left || (this.#lineAt(row)?.text ?? null) !== this.#text))
			this.#leaveRow(event);
		this.#left = false;
	}

	/** A click before the server has answered waits for the answer. So does a tap: no pointer has been there before. */
	#onClick(event: MouseEvent): void {
		const { terminal, known } = this.#options;
		if (known.refused)
			return;
		const cell = this.#cellAt(event);
		const waits = this.#asking && cell.row === this.#row && event.button === 0 && !terminal.hasSelection();
		this.#click = waits ? { cell, at: event.timeStamp } : null;
	}

	/** Let xterm.js ask for links again, if the pointer is still there. */
	#onAnswer(row: number, answered: boolean): void {
		const click = this.#click !== null && performance.now() - this.#click.at < CLICK_MS ? this.#click : null;
		this.#asking = false;
		this.#click = null;
		if (!answered || row !== this.#row)
			return;
		// A tap may have opened a phone's keyboard, so that the row is at another place now.
		const at = click === null ? this.#pointer : this.#middleOf(click.cell);
		if (at === null)
			return;
		const unchanged = (this.#lineAt(row)?.text ?? null) === this.#text;
		// If the line goes on changing, do not go on asking.
		if (!unchanged && ++this.#changes > CHANGES_MAX)
			return;
		this.#leaveRow(at);
		this.#opens = unchanged && click !== null;
		this.#move(at.clientX, at.clientY);
		this.#opens = false;
	}

	/** Let the pointer seem to be in another row, because xterm.js asks for links only when it enters one. */
	#leaveRow({ clientX, clientY }: Point): void {
		const { top, height: step } = this.#grid();
		this.#leaving = true;
		this.#move(clientX, clientY + (clientY - top < step ? step : -step));
		this.#leaving = false;
	}

	/** For the links of xterm.js alone: the event does not bubble to where it would be sent to the program. */
	#move(clientX: number, clientY: number): void {
		this.#screen?.dispatchEvent(new MouseEvent('mousemove', { clientX, clientY }));
	}

	#cellAt({ clientX, clientY }: Point): Cell {
		const { left, top, width, height } = this.#grid();
		const row = this.#options.terminal.buffer.active.viewportY + Math.floor((clientY - top) / height);
		return { row, column: Math.floor((clientX - left) / width) };
	}

	/** null: the cell is not on the screen. */
	#middleOf({ row, column }: Cell): Point | null {
		const { terminal } = this.#options;
		const { left, top, width, height } = this.#grid();
		const y = row - terminal.buffer.active.viewportY;
		if (y < 0 || y >= terminal.rows)
			return null;
		return { clientX: left + (column + 0.5) * width, clientY: top + (y + 0.5) * height };
	}

	/** Where the first cell begins, and the size of a cell, in pixels. */
	#grid(): { readonly left: number; readonly top: number; readonly width: number; readonly height: number } {
		const { terminal } = this.#options;
		const { left, top, width, height } = this.#screen?.getBoundingClientRect() ?? { left: 0, top: 0, width: 0, height: 0 };
		return { left, top, width: width / terminal.cols, height: height / terminal.rows };
	}

	get #screen(): Element | null {
		return this.#options.mount.querySelector('.xterm-screen');
	}
}

/** The line with this row, or the part of a long line around it; null if it is empty. */
function lineAround({ buffer: { active: buffer }, cols }: Terminal, row: number): Line | null {
	const around = Math.min(Math.ceil(AROUND_MAX / cols), ROWS_MAX / 2 - 1);
	let first = row;
	while (row - first < around && buffer.getLine(first)?.isWrapped === true)
		first--;
	const pieces = readLine(buffer, first).slice(0, row - first + around + 1);
	const text = pieces.join('');
	return text.trim() === '' ? null : { row: first, pieces, text };
}

/** The paths of all names, at most PATHS_MAX: the most likely ones of each name first. */
function pathsToAsk(candidates: readonly Candidate[], directories: readonly Directory[]): string[] {
	const paths = new Set<string>();
	const most = Math.max(0, ...candidates.map(({ length }) => length));
	for (let nth = 0; nth < most; nth++)
		for (const { name } of candidates.flatMap((candidate) => candidate.slice(nth, nth + 1)))
			for (const path of pathsOf(name, directories))
				if (paths.size < PATHS_MAX)
					paths.add(path);
	return [...paths];
}

/** The file that a candidate names, by its first reading that is one. */
function fileOf(candidate: Candidate, directories: readonly Directory[],
	facts: ReadonlyMap<string, FileFacts | null>): { readonly reading: Reading; readonly facts: FileFacts } | null {
	for (const reading of candidate)
		for (const path of pathsOf(reading.name, directories)) {
			const found = facts.get(path);
			if (found?.type === 'file' && found.readable && isClean(found.absolutePath))
				return { reading, facts: found };
		}
	return null;
}
