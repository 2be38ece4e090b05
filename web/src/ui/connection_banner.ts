import type { ConnectionState } from '../net/connection';
import type { ExitStatus, Role } from '../net/wire';
import { Banner, describeExit, type BannerAction } from './banner';

const DELAY_MS = 700; // shorter interruptions are not shown

export interface ConnectionBannerOptions {
	readonly role: Role;
	retry(): void;
	restart(): void;
	startAgain(): void;
	remove(): void;
}

/** Chooses the banner: a lost connection comes before an ended session. */
export class ConnectionBanner {
	#banner = new Banner();
	readonly element = this.#banner.element;
	#options: ConnectionBannerOptions;
	#state: ConnectionState = { kind: 'idle' };
	#exit: ExitStatus | null = null;
	#delayTimer: number | undefined;
	#delayPassed = false;

	constructor(options: ConnectionBannerOptions) {
		this.#options = options;
	}

	connection(state: ConnectionState): void {
		this.#state = state;
		if (state.kind === 'live' || state.kind === 'closed') {
			window.clearTimeout(this.#delayTimer);
			this.#delayTimer = undefined;
			this.#delayPassed = false;
		} else if (this.#delayTimer === undefined) {
			this.#delayTimer = window.setTimeout(() => {
				this.#delayPassed = true;
				this.#show();
			}, DELAY_MS);
		}
		this.#show();
	}

	exit(exit: ExitStatus | null): void {
		this.#exit = exit;
		this.#show();
	}

	dispose(): void {
		window.clearTimeout(this.#delayTimer);
	}

	#show(): void {
		const { role, retry, restart, startAgain, remove } = this.#options;
		const again: BannerAction = { label: 'Start again', run: startAgain };
		if (this.#state.kind === 'closed')
			this.#showClosed(this.#state.reason, role === 'owner' ? again : { label: 'Try again', run: restart });
		else if (this.#delayPassed && this.#state.kind !== 'replaying')
			this.#banner.show('wait', 'The connection was lost. Reconnecting; no output will be missing, and what you type is kept.',
				[{ label: 'Try now', run: retry }]);
		else if (this.#exit !== null)
			this.#banner.show('ended', `${describeExit(this.#exit)}.`,
				role === 'owner' ? [again, { label: 'Delete', run: remove }] : []);
		else if (this.#state.kind === 'live')
			this.#banner.hide();
	}

	#showClosed(reason: string, again: BannerAction): void {
		if (reason === 'access-ended')
			this.#banner.show('ended', 'Access ended: the link was revoked or has expired.');
		else if (reason === 'deleted')
			this.#banner.show('ended', 'This session was deleted.', [again]);
	}
}
