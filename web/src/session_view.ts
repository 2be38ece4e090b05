/*
 * One session on the page: its connection, its terminal, and what is drawn over the terminal.
 */
import type { Terminal } from '@xterm/xterm';
import type { Alerts } from './blocks/alerts';
import { Blocks } from './blocks/blocks';
import type { FileSelection } from './files/file_selection';
import { LazyLinks } from './files/lazy_links';
import { Images } from './images/images';
import { messageOf, type Api } from './net/api';
import { browserClock } from './net/clock';
import { Connection, type ConnectionState, type Position, type Socket } from './net/connection';
import { diagnose } from './net/diagnose';
import type {
	AttachedMessage, Client, LeaseMessage, PresenceMessage, Role, ServerMessage, Size, SnapshotMessage,
} from './net/wire';
import { LeaseKeeper } from './lease_keeper';
import { LazySearch } from './search/lazy_search';
import { SizeKeeper } from './size_keeper';
import { Clusters } from './term/clusters';
import { Feed } from './term/feed';
import { useGpu } from './term/gpu';
import { History } from './term/history';
import { Input } from './term/input';
import { ignoreMouseModes, onTyping } from './term/read_only';
import { Sticky } from './term/sticky';
import { createTerminal } from './term/terminal';
import { LazyTouch } from './touch/lazy_touch';
import { describeRestart } from './ui/banner';
import { ConnectionBanner } from './ui/connection_banner';
import { copyOnInterrupt, copyOnSelect, copyText } from './ui/copy';
import { h } from './ui/dom';
import { keyBar } from './ui/key_bar';
import { LeaseFrame } from './ui/lease_frame';
import { openLink } from './ui/links';
import { myName, personId } from './ui/my_name';
import { NewOutput } from './ui/new_output';
import { NO_CLIENTS } from './ui/presence';
import { randomId } from './ui/random_id';
import { openReadMode } from './ui/read_mode';
import type { Settings } from './ui/settings';
import { themeMessage } from './ui/terminal_themes';
import type { Theme } from './ui/theme';
import { screenReaderMode } from './ui/shortcuts';
import { handlePaste, pasteFromClipboard } from './ui/paste';
import { Paster } from './ui/paster';
import { notice, toast } from './ui/toast';
import { UndeliveredNote } from './ui/undelivered';

const BELL_FLASH_MS = 180;
const hintReadOnly = () => toast('This link only allows watching: nothing was typed.');
const NO_LEASE: LeaseMessage = { type: 'lease', lease: null };
/** A media query for phones. */
const PHONE = '(pointer: coarse) and (max-width: 700px), (pointer: coarse) and (max-height: 500px)';

export interface SessionViewEvents {
	attached(): void;
	/** What this page may do in the session; null: it is no longer a client of it. */
	role(role: Role | null): void;
	/**
	 * behind: the session prints faster than this window can show; silentMs: milliseconds since the server should have
	 * answered, 0 if it has.
	 */
	connection(state: ConnectionState, behind: boolean, silentMs: number): void;
	latency(ms: number): void;
	presence(message: PresenceMessage, me: Client['id'] | null): void;
	lease(message: LeaseMessage): void;
	size(size: Size): void;
	renamed(name: string): void;
	title(title: string): void;
	bell(): void;
	signedOut(): void;
	startAgain(): void;
	remove(): void;
}

export interface SessionViewOptions {
	readonly api: Api;
	readonly id: string;
	readonly role: Role;
	readonly theme: Theme;
	readonly settings: Settings;
	readonly events: SessionViewEvents;
	readonly alerts: Alerts;
	/** Block id of the command to scroll to, or null. */
	readonly targetBlock: string | null;
	name(): string;
}

export class SessionView {
	readonly id: string;
	readonly terminal: Terminal;
	readonly connection: Connection;
	readonly search: LazySearch;
	readonly blocks: Blocks;
	readonly keyboard: LeaseKeeper;
	#fileLinks: LazyLinks;
	#images: Images;
	#options: SessionViewOptions;
	#element: HTMLElement;
	#mount: HTMLElement;
	#banner: ConnectionBanner;
	#undelivered = new UndeliveredNote({
		send: () => this.connection.settle('send'),
		drop: () => this.connection.settle('drop'),
	});
	#paster: Paster;
	#inputId = randomId(); // identifies our input on all connections of this view (`client` in the address)
	#silentMs = 0;
	#wasLive = false; // it has been live since the view was created
	#sizes: SizeKeeper;
	#feed: Feed;
	#history: History;
	#input: Input;
	#sticky = new Sticky();
	#touch: LazyTouch;
	#keyBar: HTMLElement | null;
	#gone = new AbortController(); // removes listeners
	#clientId: Client['id'] | null = null; // given by the server, another one for each connection
	#exitShown = false;
	#epoch: AttachedMessage['epoch'] | null = null;
	#clusters: Clusters;
	#clipboard = false; // programs may write to the clipboard
	#live = false; // the terminal parses live output, not history
	#lease: LeaseMessage = NO_LEASE;
	#frame = new LeaseFrame();
	#newOutput: NewOutput;
	#disposed = false;
	#replay = 0; // number of the current replay of history: the `ready` of an earlier one is ignored

	constructor(parent: HTMLElement, options: SessionViewOptions) {
		const { api, id, role, theme, events, settings } = options;
		this.#options = options;
		this.id = id;
		const terminal = createTerminal({
			theme: theme.terminal,
			fontFamily: settings.fontFamily, fontSize: settings.fontSize, lineHeight: settings.lineHeight,
			cursorStyle: settings.values.cursor, cursorBlink: settings.blinks(role === 'viewer'),
			optionIsMeta: settings.values.option === 'meta', readOnly: role === 'viewer', screenReader: screenReaderMode(), openLink,
			putOnClipboard: (text) => this.#putOnClipboard(text),
		});
		this.terminal = terminal;
		this.#newOutput = new NewOutput(terminal);
		this.#paster = new Paster(terminal, () => this.connection, () => this.#touch.pasted());
		this.#clusters = new Clusters(terminal);
		this.#banner = new ConnectionBanner({
			role,
			retry: () => this.connection.nudge(),
			restart: () => this.connection.restart(),
			startAgain: () => events.startAgain(),
			remove: () => events.remove(),
		});
		this.#mount = h('div', {
			class: 'mount', 'data-testid': 'terminal', role: 'group',
			'aria-label': 'Terminal. Control Shift B goes to the list of sessions.',
		});
		this.search = new LazySearch({
			terminal, mount: this.#mount, theme, fetchAll: () => this.#history.fetchAll(), closed: () => terminal.focus(),
		});
		this.#sizes = new SizeKeeper({
			mount: this.#mount, terminal, role, passive: matchMedia(PHONE).matches,
			report: (size) => this.connection.resize(size),
			claim: (size) => void api.resize(id, size).catch((error: unknown) => toast(messageOf(error))),
		});
		let stage: HTMLElement;
		const paste = role === 'viewer' ? null
			: () => void pasteFromClipboard(terminal, (text) => this.#paster.paste(text));
		this.#keyBar = paste && keyBar(terminal, this.#sticky, (keys) => this.#touch.type(keys), paste);
		this.#element = h('section', { class: 'session-view', 'aria-label': `Session ${id}` },
			stage = h('div', { class: 'stage' },
				this.#mount, this.#banner.element, this.#undelivered.element, this.#paster.element,
				this.#newOutput.element, this.#frame.element), this.#keyBar);
		parent.replaceChildren(this.#element);
		this.keyboard = new LeaseKeeper({ api, session: id, sendId: (lease) => this.connection.sendLease(lease) });

		terminal.open(this.#mount);
		if (role === 'viewer') {
			ignoreMouseModes(terminal);
			onTyping(this.#mount, hintReadOnly);
		}
		handlePaste(this.#mount, (text) => this.#pasteOrHint(text), (selection) => void this.upload(selection));
		copyOnInterrupt(terminal, () => settings.values.interrupt === 'copy');
		this.blocks = new Blocks({
			api, id, terminal, stage, mount: this.#mount, alerts: options.alerts, targetBlock: options.targetBlock,
			paste: role === 'viewer' ? null : (text) => this.#paster.paste(text),
			fetchAll: () => this.#history.fetchAll(),
		});
		this.#fileLinks = new LazyLinks({ api, session: id, terminal, stage, mount: this.#mount, blockAt: (row) => this.blocks.at(row) });
		this.#touch = new LazyTouch({
			terminal, mount: this.#mount, stage, paste, pasteText: (text) => this.#paster.paste(text),
			modifierHeld: () => this.#sticky.isHeld('ctrl') || this.#sticky.isHeld('alt'),
			commandAt: (row) => this.blocks.commandAt(row), cover: this.blocks.header,
		}, this.#gone.signal);
		this.#images = new Images(terminal, (from, to) => api.output(id, from, to), this.#gone.signal);
		terminal.onTitleChange((title) => events.title(title));
		terminal.onBell(() => this.#onBell());
		this.#feed = new Feed(terminal, (offset) => this.connection.resync(offset));
		this.#history = new History(terminal, (lines) => this.connection.requestSnapshot(lines));
		this.#history.setLimit(settings.scrollback);
		this.#input = new Input(terminal, this.#sticky, (data, typed) => {
			if (typed) {
				this.#history.typed();
				this.#sizes.followCursor();
			}
			if (!this.connection.send(data, typed) && typed && this.connection.state.kind !== 'closed')
				toast('Too much input waits already: it was not kept.');
		});
		this.connection = this.#newConnection();
		this.#addListeners();
		// Output comes when cells have their final size: the session takes it.
		void Promise.all([useGpu(terminal, () => this.#sizes.refit()), settings.fontSettled]).then(() => this.#connect());
		// On a phone the focus would open the keyboard over the terminal.
		if (matchMedia('(hover: hover)').matches)
			terminal.focus();
	}

	/** Run when the output so far is parsed. Used by window.ringside in browser tests. */
	whenParsed(run: () => void): void {
		this.#feed.whenParsed(run);
	}

	/** The size of a new session that is created from this window. */
	wantedSize(): Size | null {
		return this.#sizes.wantedForNew();
	}

	/** Show the text of the terminal to read and select. Also fetches the whole history, for the next time. */
	read(): void {
		this.#history.fetchAll();
		openReadMode(this.terminal);
	}

	async upload(selection: FileSelection): Promise<void> {
		const why = this.#whyNoUpload();
		if (why !== null) {
			toast(why);
			return;
		}
		try {
			const { uploadFiles } = await import('./files/uploads');
			const { api, name } = this.#options;
			uploadFiles({ api, session: this.id, name, whyNot: () => this.#whyNoUpload(), paste: (text) => this.paste(text) }, selection);
		} catch {
			toast('The server cannot be reached.');
		}
	}

	#whyNoUpload(): string | null {
		if (this.#options.role === 'viewer')
			return 'This link only allows watching: you cannot upload files.';
		const { lease, yours } = this.#lease;
		return lease?.mode === 'exclusive' && yours !== true ? `${lease.owner} has the keyboard: you cannot upload files until it is given back.` : null;
	}

	/** Paste text, only while the program uses bracketed paste. Returns false if that is not possible. */
	paste(text: string): boolean {
		if (this.#disposed || !this.#input.live || !this.terminal.modes.bracketedPasteMode || this.#whyNoUpload() !== null)
			return false;
		this.#paster.paste(text);
		return true;
	}

	#pasteOrHint(text: string): void {
		if (this.#options.role === 'viewer')
			hintReadOnly();
		else
			this.#paster.paste(text);
	}

	get sizeBadge(): HTMLElement {
		return this.#sizes.badge;
	}

	dispose(): void {
		this.#disposed = true;
		this.#gone.abort();
		this.#sizes.dispose();
		this.connection.stop();
		this.search.dispose();
		this.blocks.dispose();
		this.#fileLinks.dispose();
		this.keyboard.dispose();
		this.#frame.dispose();
		this.#banner.dispose();
		this.terminal.dispose();
		this.#element.remove();
	}

	/** Connect. The renderer is ready, so the size of cells is known. */
	#connect(): void {
		const size = this.#sizes.sizeToReport();
		if (size !== null)
			this.terminal.resize(size.cols, size.rows);
		this.connection.start();
	}

	#newConnection(): Connection {
		const { api, role, events } = this.#options;
		return new Connection({
			clock: browserClock,
			random: Math.random,
			open: (position, typed) => this.#open(position, typed),
			diagnose: () => diagnose(api, this.id),
			events: {
				state: (state) => this.#onState(state),
				message: (message) => this.#onMessage(message),
				bytes: (data, offset) => this.#onBytes(data, offset),
				snapshot: (snapshot, data) => this.#onSnapshot(snapshot, data),
				resize: (size) => this.#feed.whenParsed(() => this.#resize(size)),
				ready: () => {
					this.blocks.refresh();
					if (role !== 'viewer') // viewers may not read files
						this.#fileLinks.load();
					const replay = this.#replay;
					this.#feed.whenParsed(() => {
						if (replay === this.#replay) {
							this.#live = true;
							this.#input.setLive(role !== 'viewer');
						}
					});
				},
				latency: (ms) => events.latency(ms),
				silence: (ms) => {
					this.#silentMs = ms;
					this.#reportConnection();
				},
				undelivered: () => this.#showUndelivered(),
				pasting: (progress) => this.#paster.show(progress),
				pasteRefused: (paste, refusal) => this.#paster.refused(paste, refusal),
			},
		});
	}

	#open(position: Position | null, typed: number): Socket {
		const size = this.#sizes.sizeToReport();
		const { lines } = this.#history;
		return this.#options.api.mux.open(`/ws/pty?${new URLSearchParams({
			sessionId: this.id, name: myName(),
			client: this.#inputId, typed: String(typed), person: personId(), acks: '1', blocks: '1',
			...(size === null ? {} : { cols: String(size.cols), rows: String(size.rows) }),
			...(lines === null ? {} : { scrollback: String(lines) }),
			...(position === null ? {} : { epoch: String(position.epoch), offset: String(position.offset) }),
		})}`);
	}

	#onState(state: ConnectionState): void {
		if (state.kind !== 'live') {
			this.#live = false;
			this.#input.setLive(false);
			this.#replay++;
			this.#paster.show(null);
		}
		this.#wasLive ||= state.kind === 'live';
		this.#banner.connection(state);
		this.#reportConnection();
		if (state.kind === 'closed' && !this.#disposed)
			this.#leave();
		if (state.kind === 'closed' && state.reason === 'signed-out')
			this.#options.events.signedOut();
	}

	/** This page is no longer a client of the session: show no role, no keys and no other clients. */
	#leave(): void {
		const { events } = this.#options;
		this.#clientId = null;
		this.#showKeys(false);
		this.#showLease(NO_LEASE);
		this.#sizes.leave();
		events.presence(NO_CLIENTS, null);
		events.role(null);
	}

	#showKeys(shown: boolean): void {
		if (this.#keyBar !== null)
			this.#keyBar.hidden = !shown;
	}

	#onBytes(data: Uint8Array, offset: number): void {
		const write = (piece: Uint8Array, at: number) =>
			this.#feed.write(piece, at, () => this.#newOutput.reach(at + piece.length));
		this.blocks.pass(data, offset, write, (run) => this.#feed.whenParsed(run));
	}

	#onSnapshot(snapshot: SnapshotMessage, data: Uint8Array): void {
		this.#feed.writeSnapshot(data, () => {
			this.#input.setLive(false);
			this.blocks.beginSnapshot();
			this.#images.beginSnapshot();
			this.#history.beginSnapshot(() => this.#resize(snapshot));
		}, () => {
			this.blocks.endSnapshot(snapshot);
			this.#images.endSnapshot();
			this.#history.endSnapshot(snapshot);
			this.#newOutput.reach(snapshot.offset);
			if (!this.#live)
				return;
			this.#input.setLive(this.#options.role !== 'viewer');
			this.#reportConnection();
		});
	}

	#reportConnection(): void {
		this.#options.events.connection(this.connection.state, this.#history.behind, this.#silentMs);
		this.#showUndelivered();
	}

	/** Show undelivered input if the connection is lost or slow, or if the user has to confirm. */
	#showUndelivered(): void {
		const { state, needsConfirmation } = this.connection;
		const live = state.kind === 'live';
		const lost = state.kind === 'waiting' || (!live && state.kind !== 'closed' && this.#wasLive);
		const shown = lost || needsConfirmation || this.#silentMs > 0;
		this.#undelivered.show(shown ? this.connection.undelivered : null, live);
	}

	#resize({ cols, rows }: Size): void {
		this.#sizes.apply({ cols, rows });
		this.#options.events.size({ cols, rows });
	}

	#onMessage(message: ServerMessage): void {
		const { events } = this.#options;
		switch (message.type) {
		case 'attached':
			this.#onAttached(message);
			break;
		case 'presence':
			this.#sizes.presence(message, this.#clientId);
			events.presence(message, this.#clientId);
			break;
		case 'exit':
			this.#exitShown = true;
			this.#feed.whenParsed(() => this.#banner.exit(message));
			break;
		case 'lease':
			this.keyboard.onMessage(message);
			this.#showLease(message);
			break;
		case 'state':
			events.renamed(message.name);
			if (message.shell)
				toast(describeRestart(message.shell));
			break;
		case 'block':
			this.blocks.onMessage(message);
			break;
		case 'drain':
			toast(message.draining
				? 'This server is draining: sessions keep running, but no new ones start.' : 'This server accepts new sessions again.');
			break;
		case 'notification':
			notice(message.title, message.text);
			break;
		case 'error':
			toast(message.message);
			break;
		}
	}

	#onAttached(message: AttachedMessage): void {
		const { api, events } = this.#options;
		this.#clientId = message.clientId;
		if (this.#epoch !== message.epoch)
			this.#resetForNewSession();
		this.#epoch = message.epoch;
		this.#exitShown = false;
		this.#clipboard = message.clipboard;
		this.connection.sendTheme(themeMessage(this.#options.theme.terminal));
		this.#history.attached(message.scrollback);
		this.#clusters.setSession(message.unicode);
		this.#showLease(NO_LEASE); // the server sends it again
		this.keyboard.attached();
		this.#showKeys(true);
		events.role(message.role);
		events.attached();
		if (message.state !== 'exited') {
			this.#banner.exit(null);
			return;
		}
		// The session has exited already. If we resumed after its `exit` message, fetch the status.
		void api.session(this.id).then(({ exit }) => {
			if (!this.#exitShown && exit !== null)
				this.#banner.exit(exit);
		}, () => undefined);
	}

	#resetForNewSession(): void {
		this.blocks.reset();
		this.#newOutput.reset();
	}

	#showLease(message: LeaseMessage): void {
		this.#lease = message;
		this.#frame.show(message);
		this.#options.events.lease(message);
	}

	#onBell(): void {
		if (!this.#live)
			return;
		this.#mount.classList.add('bell');
		window.setTimeout(() => this.#mount.classList.remove('bell'), BELL_FLASH_MS);
		this.#options.events.bell();
	}

	/** Copy a program's text, but not again for output that is replayed, and not for viewers. */
	#putOnClipboard(text: string): void {
		if (this.#clipboard && this.#input.live)
			void copyText(text, 'A program in the session has copied text.');
	}

	#addListeners(): void {
		const { theme, settings, role } = this.#options, { signal } = this.#gone;
		const nudge = () => {
			if (document.visibilityState === 'visible')
				this.connection.nudge();
		};
		window.addEventListener('online', nudge, { signal });
		document.addEventListener('visibilitychange', nudge, { signal });
		const stopTheme = theme.onChange(() => {
			this.terminal.options.theme = theme.terminal;
			this.connection.sendTheme(themeMessage(theme.terminal));
		});
		const stopSettings = settings.onChange(() => {
			this.terminal.options.cursorStyle = settings.values.cursor;
			this.terminal.options.cursorBlink = settings.blinks(role === 'viewer');
			this.terminal.options.macOptionIsMeta = settings.values.option === 'meta';
			this.#history.setLimit(settings.scrollback);
			this.#sizes.useFont({ family: settings.fontFamily, size: settings.fontSize, lineHeight: settings.lineHeight });
		});
		const stopCopying = copyOnSelect(this.terminal, this.#mount, () => settings.values.selection === 'copy');
		for (const stop of [stopCopying, stopSettings, stopTheme])
			signal.addEventListener('abort', stop);
	}
}
