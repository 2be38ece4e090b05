/* A fake clock and fake sockets. */
import type { Clock } from '../src/net/clock';
import { Connection, type Diagnosis, type Position, type Socket } from '../src/net/connection';
import { cleanPaste, pasteOf } from '../src/net/paste';
import type { SnapshotMessage } from '../src/net/wire';

interface Timer {
	readonly at: number;
	readonly run: () => void;
}

export class FakeClock implements Clock {
	#now = 0;
	#timers = new Set<Timer>();

	now(): number {
		return this.#now;
	}

	setTimeout(run: () => void, delay: number): unknown {
		const timer = { at: this.#now + delay, run };
		this.#timers.add(timer);
		return timer;
	}

	clearTimeout(timer: unknown): void {
		this.#timers.delete(timer as Timer);
	}

	advance(milliseconds: number): void {
		const end = this.#now + milliseconds;
		for (;;) {
			const [next] = [...this.#timers].filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at);
			if (next === undefined)
				break;
			this.#timers.delete(next);
			this.#now = next.at;
			next.run();
		}
		this.#now = end;
	}
}

export class FakeSocket implements Socket {
	binaryType = '';
	onmessage: Socket['onmessage'] = null;
	onopen: Socket['onopen'] = null;
	onclose: Socket['onclose'] = null;
	readonly sent: (string | Uint8Array)[] = [];
	closed = false;

	constructor(readonly position: Position | null, readonly acknowledged: number) {}

	send(data: string | Uint8Array): void {
		this.sent.push(data);
	}

	close(): void {
		this.closed = true;
	}

	json(message: object): void {
		this.onmessage?.({ data: JSON.stringify(message) } as MessageEvent);
	}

	bytes(text: string): void {
		const data = new TextEncoder().encode(text);
		this.onmessage?.({ data: data.buffer } as MessageEvent);
	}

	end(code: number): void {
		this.onclose?.({ code } as CloseEvent);
	}

	/** The server's messages up to `ready`. */
	attach(offset: number, options: { epoch?: string; snapshot?: string; history?: string; input?: number | null } = {}): void {
		this.json({
			type: 'attached', epoch: options.epoch ?? 'e1', cols: 80, rows: 24, state: 'running',
			input: options.input === undefined ? this.acknowledged : options.input,
		});
		if (options.snapshot !== undefined) {
			this.json(snapshotMessage({ offset, bytes: options.snapshot.length, reason: 'attach' }));
			this.bytes(options.snapshot);
		}
		this.json({ type: 'sync', offset, cols: 80, rows: 24 });
		if (options.history !== undefined)
			this.bytes(options.history);
		this.json({ type: 'ready' });
	}

	/** The bytes of all binary frames, as text. */
	get sentText(): string {
		const decoder = new TextDecoder();
		return this.sent.filter((data) => typeof data !== 'string').map((data) => decoder.decode(data as Uint8Array)).join('');
	}

	sentMessages(type: string): Record<string, unknown>[] {
		return this.sent.filter((data) => typeof data === 'string')
			.map((data) => JSON.parse(data as string) as Record<string, unknown>)
			.filter((message) => message['type'] === type);
	}
}

export function snapshotMessage(fields: Partial<SnapshotMessage>): SnapshotMessage {
	return {
		type: 'snapshot', offset: 0, bytes: 0, cols: 80, rows: 24, lines: 0, total: 0, reason: 'lag', ...fields,
	};
}

/** A connection whose events are logged as lines. */
export function harness(diagnosis: () => Promise<Diagnosis> = async () => 'unknown') {
	const clock = new FakeClock();
	const sockets: FakeSocket[] = [];
	const log: string[] = [];
	const latencies: number[] = [];
	const silences: number[] = [];
	const connection = new Connection({
		clock, random: () => 1, diagnose: diagnosis,
		open: (position, typed) => {
			const socket = new FakeSocket(position, typed);
			sockets.push(socket);
			return socket;
		},
		events: {
			state: (state) => log.push(state.kind === 'closed' ? `closed ${state.reason}`
				: state.kind === 'waiting' ? `waiting ${state.delay}` : state.kind),
			message: (message) => log.push(`message ${message.type}`),
			snapshot: ({ cols, rows, reason }, data) =>
				log.push(`snapshot ${cols}x${rows} ${reason} ${new TextDecoder().decode(data)}`),
			resize: ({ cols, rows }) => log.push(`resize ${cols}x${rows}`),
			bytes: (data, offset) => log.push(`bytes ${offset} ${new TextDecoder().decode(data)}`),
			ready: () => log.push('ready'),
			latency: (ms) => latencies.push(ms),
			silence: (ms) => silences.push(ms),
			undelivered: () => undefined,
			pasting: (progress) => log.push(progress === null ? 'pasted' : `pasting ${progress.delivered}/${progress.total}`),
			pasteRefused: (paste, { code }) => log.push(`refused ${code} of ${paste.data.length}`),
		},
	});
	connection.start();
	return {
		clock, sockets, connection, latencies, silences,
		type: (text: string, typed = true) => connection.send(new TextEncoder().encode(text), typed),
		paste: (text: string) => connection.paste(pasteOf(new TextEncoder().encode(cleanPaste(text)))),
		get socket(): FakeSocket {
			return sockets[sockets.length - 1] as FakeSocket;
		},
		/** The events since the last call. */
		events: () => log.splice(0),
	};
}

/** Let handlers of settled promises run. */
export function settle(): Promise<void> {
	return new Promise((resolve) => setImmediate(resolve));
}
