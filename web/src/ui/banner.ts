import type { ExitStatus, ShellRestart } from '../net/wire';
import { fill, h, keepFocusOutside } from './dom';

export interface BannerAction {
	readonly label: string;
	run(): void;
}

export type BannerTone = 'wait' | 'ended';

/** A message over the terminal, which stays visible. */
export class Banner {
	readonly element = h('div', {
		class: 'banner', role: 'status', 'aria-live': 'polite', hidden: true, 'data-testid': 'banner',
	});

	constructor() {
		keepFocusOutside(this.element);
	}

	show(tone: BannerTone, text: string, actions: readonly BannerAction[] = []): void {
		this.element.hidden = false;
		this.element.dataset['tone'] = tone;
		fill(this.element, h('span', { class: 'banner-mark', 'aria-hidden': 'true' }),
			h('span', { class: 'banner-text' }, text),
			...actions.map((action) => h('button', {
				type: 'button', class: 'button small', click: () => action.run(),
			}, action.label)));
	}

	hide(): void {
		this.element.hidden = true;
		fill(this.element);
	}
}

export function describeExit(exit: ExitStatus): string {
	if (exit.reason === 'holder_died')
		return 'Session ended: holder died';
	if (exit.signal !== null)
		return `Session ended: killed by SIG${exit.signal.replace(/^SIG/, '')}`;
	return `Session ended: exit status ${exit.code ?? 'unknown'}`;
}

export function describeRestart({ exitCode, signal }: ShellRestart): string {
	const how = signal !== null ? `killed by SIG${signal}` : `exit status ${exitCode ?? 'unknown'}`;
	return `The shell has ended (${how}) and was started again`;
}
