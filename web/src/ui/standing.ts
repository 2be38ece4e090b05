/* What a session is at, in the words of the list. No DOM: all of it is tested. */
import type { Activity, Session } from '../net/wire';

/** Somebody is waited for; the last command has failed; something works; nothing does; the shell has ended; not known. */
export type Kind = 'waits' | 'failed' | 'works' | 'idle' | 'ended' | 'unknown';

export interface Standing {
	readonly kind: Kind;
	readonly mark: string;
	readonly text: string;
	readonly time: string; // for how long, if that says something; it is never cut
}

export const INTERRUPTED = 130; // somebody pressed Ctrl-C, and knows

/** What the session is at; now: of this machine's clock. */
export function standing(session: Session, now: number): Standing {
	const { activity, state, exit } = session;
	if (state === 'exited') {
		const failed = exit !== null && (exit.signal !== null || (exit.code ?? 0) !== 0);
		return { kind: 'ended', mark: failed ? '✗' : '', text: failed ? `ended: ${exit.signal ?? exit.code}` : 'ended', time: '' };
	}
	if (!activity)
		return { kind: 'unknown', mark: '', text: place(session.cwd, false), time: '' };
	if (waits(activity))
		return { kind: 'waits', mark: activity.input === 'password' ? '🔒' : '⌨', text: waitedFor(activity), time: '' };
	switch (activity.status) {
	case 'stopped':
		return { kind: 'idle', mark: '⏸', text: `${program(activity)} is stopped`, time: '' };
	case 'fullscreen':
		if (activity.input !== null)
			return { kind: 'idle', mark: '▣', text: program(activity), time: '' };
		return working(activity, now);
	case 'running':
		return working(activity, now);
	case 'starting':
		return { kind: 'works', mark: '▶', text: 'starting', time: '' };
	default:
		return atPrompt(activity);
	}
}

export function countWaiting(sessions: readonly Session[]): number {
	return sessions.filter((session) => standing(session, 0).kind === 'waits').length;
}

function working(activity: Activity, now: number): Standing {
	return { kind: 'works', mark: '▶', text: program(activity), time: elapsed(startOf(activity), now) };
}

/** An editor or a pager on a screen of its own waits for keys all day: that is no question. */
export function waits({ status, input }: Activity): boolean {
	return status === 'waiting_input' || (status === 'starting' && input !== null) || input === 'password';
}

function atPrompt({ block, cwd, cwdCut }: Activity): Standing {
	const code = block?.state === 'done' ? block.exitCode : null;
	if (block !== null && code !== null && code !== 0 && code !== INTERRUPTED)
		return { kind: 'failed', mark: '✗', text: `${code} ${oneLine(block.command ?? '')}`.trim(), time: '' };
	return cwd === null ? { kind: 'idle', mark: '', text: 'idle', time: '' }
		: { kind: 'idle', mark: '', text: place(cwd, cwdCut), time: '· idle' };
}

/** Whom does it take? A password, a line, a key; and the program that reads. */
export function waitedFor(activity: Activity): string {
	const what = activity.input === 'password' ? 'password' : activity.input === 'line' ? 'a line' : 'a key';
	const who = program(activity);
	return who === '' ? what : `${what} · ${who}`;
}

function program({ block, foreground }: Activity): string {
	const command = block?.state === 'running' ? oneLine(block.command ?? '') : '';
	return command || oneLine(foreground?.name ?? '');
}

function startOf({ block, foreground, since }: Activity): string {
	return (block?.state === 'running' ? block.startedAt : foreground?.startedAt) ?? since;
}

/** "0:07", "1:12", "1:02:03", "2 d 4 h"; nothing from a clock that is ahead of ours. */
export function elapsed(from: string, now: number): string {
	const seconds = Math.floor((now - Date.parse(from)) / 1000);
	if (!(seconds >= 0))
		return '';
	const hours = Math.floor(seconds / 3600), minutes = Math.floor(seconds / 60) % 60;
	if (hours >= 48)
		return `${Math.floor(hours / 24)} d ${hours % 24} h`;
	const two = (number: number) => String(number).padStart(2, '0');
	return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** On one line, without what would turn, hide or break it. */
export function oneLine(text: string): string {
	return text.replace(/[\s\p{C}]+/gu, ' ').trim();
}

/** A directory as shells' prompts write it; cut: its beginning is missing. */
export function place(cwd: string, cut: boolean): string {
	return (cut ? '…' : '') + oneLine(cut ? cwd : cwd.replace(/^\/(?:root|home\/[^/]+)(?=\/|$)/, '~'));
}
