/* Alerts for commands that people asked to be told about when they end. No DOM, so that unit tests cover it. */
import type { Session } from '../net/wire';
import { oneLine } from '../ui/standing';
import { kindOf, type Block } from './block';

export interface Told {
	readonly session: string;
	readonly block: string;
	readonly title: string;
	readonly text: string;
}

export interface AwaitedOptions {
	/** The commands of the session that start at this offset or later. */
	blocks(session: string, after: number): Promise<readonly Block[]>;
	tell(told: Told): void;
}

type Ended = Pick<Block, 'id' | 'command' | 'state' | 'exitCode'>;

const TEXT_MAX = 200;

interface Wait {
	readonly session: string;
	readonly block: Block;
	readonly epoch: Session['epoch'] | null; // null if unknown: a share link has no session list
	asking: boolean;
}

export class Awaited {
	#options: AwaitedOptions;
	#waits = new Map<string, Wait>();
	#sessions = new Map<string, Session>();

	constructor(options: AwaitedOptions) {
		this.#options = options;
	}

	has(session: string, block: string): boolean {
		return this.#waits.has(keyOf(session, block));
	}

	add(session: string, block: Block): void {
		if (block.state === 'running')
			this.#waits.set(keyOf(session, block.id),
				{ session, block, epoch: this.#sessions.get(session)?.epoch ?? null, asking: false });
	}

	/** The state of a command, from any source. Raises the alert once if the command has ended. */
	told(session: string, block: Ended): void {
		const key = keyOf(session, block.id);
		if (block.state === 'running' || !this.#waits.delete(key))
			return;
		const title = kindOf(block) === 'failed' ? `Failed with ${block.exitCode}` : 'Done';
		const name = this.#sessions.get(session)?.name;
		this.#options.tell({ session, block: block.id, title: name ? `${title} in ${name}` : title, text: textOf(block) });
	}

	update(sessions: readonly Session[]): void {
		this.#sessions = new Map(sessions.map((session) => [session.id, session]));
		for (const wait of [...this.#waits.values()])
			this.#look(wait, this.#sessions.get(wait.session));
	}

	#look(wait: Wait, session: Session | undefined): void {
		const { block } = wait;
		if (session === undefined || (wait.epoch !== null && session.epoch !== wait.epoch)) {
			this.#waits.delete(keyOf(wait.session, block.id));
			this.#options.tell({ session: wait.session, block: block.id, title: 'The session was deleted', text: textOf(block) });
			return;
		}
		const now = session.activity?.block;
		if (now?.id === block.id)
			this.told(wait.session, now);
		else if (now || session.state === 'exited')
			void this.#ask(wait); // its end was missed: another command runs, or the shell has exited
	}

	async #ask(wait: Wait): Promise<void> {
		if (wait.asking)
			return;
		wait.asking = true;
		try {
			const found = (await this.#options.blocks(wait.session, wait.block.start)).find(({ id }) => id === wait.block.id);
			if (found !== undefined)
				this.told(wait.session, found);
		} catch {
			// Retried at the next update of the session.
		} finally {
			wait.asking = false;
		}
	}
}

function keyOf(session: string, block: string): string {
	return `${session} ${block}`;
}

function textOf({ command }: Pick<Block, 'command'>): string {
	return oneLine(command ?? '').slice(0, TEXT_MAX) || 'A command';
}
