/*
 * One session on the screen: its connection, the feed into the terminal, and what lies over the
 * terminal. Made for one session and thrown away with it.
 */
import type { Terminal } from '@xterm/xterm';
import { messageOf, type Api } from './net/api';
import { browserClock } from './net/clock';
import { Connection, type ConnectionState, type Position } from './net/connection';
import { diagnose } from './net/diagnose';
import { socketUrl } from './net/place';
import type {
	AttachedMessage, Client, Lease, PresenceMessage, Role, ServerMessage, Size, SnapshotMessage,
} from './net/wire';
import { SizeKeeper } from './size_keeper';
import { Feed } from './term/feed';
import { useGpu } from './term/gpu';
import { History } from './term/history';
import { Input } from './term/input';
import { keepMouse } from './term/read_only';
import { Sticky } from './term/sticky';
import { createTerminal } from './term/terminal';
import { scrollByTouch } from './term/touch';
import { describeRestart } from './ui/banner';
import { ConnectionBanner } from './ui/connection_banner';
import { copyText } from './ui/copy';
import { h } from './ui/dom';
import { keyBar } from './ui/key_bar';
import { openLink } from './ui/links';
import { myName } from './ui/my_name';
import { SearchBox } from './ui/search_box';
import type { Theme } from './ui/theme';
import { screenReaderMode } from './ui/shortcuts';
import { toast } from './ui/toast';

const BELL_FLASH_MS = 180;

export interface SessionViewEvents {
	attached(): void;
	/** behind: more was put out than this window could show, and it is catching up. */
	connection(state: ConnectionState, behind: boolean): void;
	latency(ms: number): void;
	presence(message: PresenceMessage, me: Client['id'] | null): void;
	lease(lease: Lease | null): void;
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
	readonly events: SessionViewEvents;
}

export class SessionView {
	readonly id: string;
	readonly terminal: Terminal;
	readonly connection: Connection;
	readonly search: SearchBox;
	#options: SessionViewOptions;
	#element: HTMLElement;
	#mount: HTMLElement;
	#banner: ConnectionBanner;
	#sizes: SizeKeeper;
	#feed: Feed;
	#history: History;
	#input: Input;
	#sticky = new Sticky();
	#release: () => void;
	#me: Client['id'] | null = null;
	#exitKnown = false;
	#clipboard = false; // programs may write to it: the server says
	#live = false; // what is parsed now is happening now
	#era = 0; // counts up when what follows is history, so that an earlier `ready` is not taken for its end

	constructor(parent: HTMLElement, options: SessionViewOptions) {
		const { api, id, role, theme, events } = options;
		this.#options = options;
		this.id = id;
		const { terminal, search } = createTerminal({
			theme: theme.terminal, minimumContrast: theme.minimumContrast,
			fontSize: matchMedia('(max-width: 700px)').matches ? 13 : 14,
			readOnly: role === 'viewer', screenReader: screenReaderMode(), openLink,
			putOnClipboard: (text) => this.#putOnClipboard(text),
		});
		this.terminal = terminal;
		this.search = new SearchBox(search, theme, () => this.#history.fetchAll(), () => terminal.focus());
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
		this.#sizes = new SizeKeeper({
			mount: this.#mount, terminal, role,
			tell: (size) => this.connection.resize(size),
			take: (size) => void api.resize(id, size).catch((error: unknown) => toast(messageOf(error))),
		});
		this.#element = h('section', { class: 'session-view', 'aria-label': `Session ${id}` },
			h('div', { class: 'stage' },
				this.#mount, this.search.element, this.#banner.element),
			role !== 'viewer' && keyBar(terminal, this.#sticky));
		parent.replaceChildren(this.#element);

		terminal.open(this.#mount);
		if (role === 'viewer')
			keepMouse(terminal);
		scrollByTouch(terminal, this.#mount);
		terminal.onTitleChange((title) => events.title(title));
		terminal.onBell(() => this.#onBell());
		this.#feed = new Feed(terminal, (offset) => this.connection.resync(offset));
		this.#history = new History(terminal, (lines) => this.connection.requestSnapshot(lines));
		this.#input = new Input(terminal, this.#sticky, (data) => this.connection.send(data));
		this.connection = this.#newConnection();
		this.#release = this.#watchSurroundings();
		void useGpu(terminal, () => this.#sizes.refit()).then(() => this.#begin());
		// Not on a phone: it would answer with its keyboard, over what one came to see.
		if (matchMedia('(hover: hover)').matches)
			terminal.focus();
	}

	/** The size this window would like, for a session that is made from here. */
	wantedSize(): Size | null {
		return this.#sizes.wanted();
	}

	/** Says whose size the session has; for the status bar. */
	get sizeBadge(): HTMLElement {
		return this.#sizes.badge;
	}

	dispose(): void {
		this.#release();
		this.#sizes.dispose();
		this.connection.stop();
		this.#banner.dispose();
		this.terminal.dispose();
		this.#element.remove();
	}

	/** Only now the cells have their size, and with them the window its columns and rows. */
	#begin(): void {
		const size = this.#sizes.wanted();
		if (size !== null)
			this.terminal.resize(size.cols, size.rows);
		this.connection.start();
	}

	#newConnection(): Connection {
		const { api, role, events } = this.#options;
		return new Connection({
			clock: browserClock,
			random: Math.random,
			open: (position) => this.#open(position),
			diagnose: () => diagnose(api, this.id),
			events: {
				state: (state) => this.#onState(state),
				message: (message) => this.#onMessage(message),
				bytes: (data, offset) => this.#feed.bytes(data, offset),
				snapshot: (snapshot, data) => this.#onSnapshot(snapshot, data),
				resize: (size) => this.#feed.then(() => this.#resize(size)),
				ready: () => {
					const era = this.#era;
					this.#feed.then(() => {
						if (era === this.#era) {
							this.#live = true;
							this.#input.setLive(role !== 'viewer');
						}
					});
				},
				latency: (ms) => events.latency(ms),
			},
		});
	}

	#open(position: Position | null): WebSocket {
		const size = this.#sizes.telling();
		const { lines } = this.#history;
		return new WebSocket(socketUrl('ws/pty', {
			sessionId: this.id, name: myName(), ...this.#options.api.query(),
			...(size === null ? {} : { cols: String(size.cols), rows: String(size.rows) }),
			...(lines === null ? {} : { scrollback: String(lines) }),
			...(position === null ? {} : { epoch: String(position.epoch), offset: String(position.offset) }),
		}));
	}

	#onState(state: ConnectionState): void {
		if (state.kind !== 'live') {
			this.#live = false;
			this.#input.setLive(false);
			this.#era++;
		}
		this.#banner.connection(state);
		this.#options.events.connection(state, this.#history.behind);
		if (state.kind === 'closed' && state.reason === 'signed-out')
			this.#options.events.signedOut();
	}

	#onSnapshot(snapshot: SnapshotMessage, data: Uint8Array): void {
		this.#feed.snapshot(data, () => {
			this.#input.setLive(false);
			this.#history.enter(() => this.#resize(snapshot));
		}, () => {
			this.#history.left(snapshot);
			if (!this.#live)
				return;
			this.#input.setLive(this.#options.role !== 'viewer');
			this.#options.events.connection(this.connection.state, this.#history.behind);
		});
	}

	/** The session's size from this place of the stream on. */
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
			this.#sizes.presence(message, this.#me);
			events.presence(message, this.#me);
			break;
		case 'exit':
			this.#exitKnown = true;
			this.#feed.then(() => this.#banner.exit(message));
			break;
		case 'lease':
			events.lease(message.lease);
			break;
		case 'state':
			events.renamed(message.name);
			if (message.shell)
				toast(describeRestart(message.shell));
			break;
		case 'error':
			toast(message.message);
			break;
		}
	}

	#onAttached(message: AttachedMessage): void {
		const { api, events } = this.#options;
		this.#me = message.clientId;
		this.#exitKnown = false;
		this.#clipboard = message.clipboard;
		this.#history.attached(message.scrollback);
		events.lease(null); // it is told anew
		events.attached();
		if (message.state !== 'exited') {
			this.#banner.exit(null);
			return;
		}
		// It ended before we came. Its `exit` is in the stream, unless we resumed behind it.
		void api.session(this.id).then(({ exit }) => {
			if (!this.#exitKnown && exit !== null)
				this.#banner.exit(exit);
		}, () => undefined);
	}

	#onBell(): void {
		if (!this.#live)
			return;
		this.#mount.classList.add('bell');
		window.setTimeout(() => this.#mount.classList.remove('bell'), BELL_FLASH_MS);
		this.#options.events.bell();
	}

	/** Only from live output, and only for those who could have asked for it. */
	#putOnClipboard(text: string): void {
		if (this.#clipboard && this.#input.live)
			void copyText(text, 'A program in the session has copied text.');
	}

	/** Returns how to stop watching. */
	#watchSurroundings(): () => void {
		const { theme } = this.#options;
		const nudge = () => {
			if (document.visibilityState === 'visible')
				this.connection.nudge();
		};
		window.addEventListener('online', nudge);
		document.addEventListener('visibilitychange', nudge);
		const stopTheme = theme.onChange(() => {
			this.terminal.options.theme = theme.terminal;
			this.terminal.options.minimumContrastRatio = theme.minimumContrast;
		});
		return () => {
			window.removeEventListener('online', nudge);
			document.removeEventListener('visibilitychange', nudge);
			stopTheme();
		};
	}
}
