/* Alerts for commands that people asked to be told about when they end. No DOM, so that unit tests cover it. */
import type { Session } from '../net/wire';
import { oneLine } from '../ui/session_status';
import { kindOf, type Block } from './block';

export interface Alert {
	readonly session: string;
	readonly block: string;
	readonly title: string;
	readonly text: string;
}

export interface AlertsOptions {
	/** The commands of the session that start at this offset or later. */
	blocks(session: string, after: number): Promise<readonly Block[]>;
	show(alert: Alert): void;
}

type Ended = Pick<Block, 'id' | 'command' | 'state' | 'exitCode'>;

const TEXT_MAX = 200;

interface Wait {
	readonly session: string;
	readonly block: Block;
	readonly epoch: Session['epoch'] | null; // null if unknown: a share link has no session list
	fetching: boolean;
}

export class Alerts {
	#options: AlertsOptions;
	#waits = new Map<string, Wait>();
	#sessions = new Map<string, Session>();

	constructor(options: AlertsOptions) {
		this.#options = options;
	}

	has(session: string, block: string): boolean {
		return this.#waits.has(keyOf(session, block));
	}

	add(session: string, block: Block): void {
		if (block.state === 'running')
			this.#waits.set(keyOf(session, block.id),
				{ session, block, epoch: this.#sessions.get(session)?.epoch ?? null, fetching: false });
	}

	/** The state of a command, from any source. Raises the alert once if the command has ended. */
	report(session: string, block: Ended): void {
		const key = keyOf(session, block.id);
		if (block.state === 'running' || !this.#waits.delete(key))
			return;
		const title = kindOf(block) === 'failed' ? `Failed with ${block.exitCode}` : 'Done';
		const name = this.#sessions.get(session)?.name;
		this.#options.show({ session, block: block.id, title: name ? `${title} in ${name}` : title, text: textOf(block) });
	}

	update(sessions: readonly Session[]): void {
		this.#sessions = new Map(sessions.map((session) => [session.id, session]));
		for (const wait of [...this.#waits.values()])
			this.#check(wait, this.#sessions.get(wait.session));
	}

	#check(wait: Wait, session: Session | undefined): void {
		const { block } = wait;
		if (session === undefined || (wait.epoch !== null && session.epoch !== wait.epoch)) {
			this.#waits.delete(keyOf(wait.session, block.id));
			this.#options.show({ session: wait.session, block: block.id, title: 'The session was deleted', text: textOf(block) });
			return;
		}
		const now = session.activity?.block;
		if (now?.id === block.id)
			this.report(wait.session, now);
		else if (now || session.state === 'exited')
			void this.#fetch(wait); // its end was missed: another command runs, or the shell has exited
	}

	async #fetch(wait: Wait): Promise<void> {
		if (wait.fetching)
			return;
		wait.fetching = true;
		try {
			const found = (await this.#options.blocks(wait.session, wait.block.start)).find(({ id }) => id === wait.block.id);
			if (found !== undefined)
				this.report(wait.session, found);
		} catch {
			// Retried at the next update of the session.
		} finally {
			wait.fetching = false;
		}
	}
}

function keyOf(session: string, block: string): string {
	return `${session} ${block}`;
}

function textOf({ command }: Pick<Block, 'command'>): string {
	return oneLine(command ?? '').slice(0, TEXT_MAX) || 'A command';
}
