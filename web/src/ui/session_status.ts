/* The status of a session as lists show it. No DOM, so that unit tests cover it. */
import type { Activity, Session } from '../net/wire';

/** waits: for input; failed: the last command; works: a program runs; idle: at a prompt; ended: the shell has exited. */
export type Kind = 'waits' | 'failed' | 'works' | 'idle' | 'ended' | 'unknown';

export interface SessionStatus {
	readonly kind: Kind;
	readonly mark: string;
	readonly text: string;
	readonly time: string; // elapsed time, or ''; never cut off
}

export const INTERRUPTED = 130; // Ctrl-C: not shown as a failure

/** now: of this machine's clock. */
export function statusOf(session: Session, now: number): SessionStatus {
	const { activity, state, exit } = session;
	if (state === 'exited') {
		const failed = exit !== null && (exit.signal !== null || (exit.code ?? 0) !== 0);
		return { kind: 'ended', mark: failed ? '✗' : '', text: failed ? `ended: ${exit.signal ?? exit.code}` : 'ended', time: '' };
	}
	if (!activity)
		return { kind: 'unknown', mark: '', text: shortDirectory(session.cwd, false), time: '' };
	if (waitsForInput(activity))
		return { kind: 'waits', mark: activity.input === 'password' ? '🔒' : '⌨', text: describeInput(activity), time: '' };
	switch (activity.status) {
	case 'stopped':
		return { kind: 'idle', mark: '⏸', text: `${programOf(activity)} is stopped`, time: '' };
	case 'fullscreen':
		if (activity.input !== null)
			return { kind: 'idle', mark: '▣', text: programOf(activity), time: '' };
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
	return sessions.filter((session) => statusOf(session, 0).kind === 'waits').length;
}

function working(activity: Activity, now: number): SessionStatus {
	return { kind: 'works', mark: '▶', text: programOf(activity), time: elapsed(startOf(activity), now) };
}

/** Whether a program waits for input. Full screen programs such as editors always do, so they do not count. */
export function waitsForInput({ status, input }: Activity): boolean {
	return status === 'waiting_input' || (status === 'starting' && input !== null) || input === 'password';
}

function atPrompt({ block, cwd, cwdCut }: Activity): SessionStatus {
	const code = block?.state === 'done' ? block.exitCode : null;
	if (block !== null && code !== null && code !== 0 && code !== INTERRUPTED)
		return { kind: 'failed', mark: '✗', text: `${code} ${oneLine(block.command ?? '')}`.trim(), time: '' };
	return cwd === null ? { kind: 'idle', mark: '', text: 'idle', time: '' }
		: { kind: 'idle', mark: '', text: shortDirectory(cwd, cwdCut), time: '· idle' };
}

/** The kind of input and the program that reads it: "a line · read x". */
export function describeInput(activity: Activity): string {
	const what = activity.input === 'password' ? 'password' : activity.input === 'line' ? 'a line' : 'a key';
	const reader = programOf(activity);
	return reader === '' ? what : `${what} · ${reader}`;
}

function programOf({ block, foreground }: Activity): string {
	const command = block?.state === 'running' ? oneLine(block.command ?? '') : '';
	return command || oneLine(foreground?.name ?? '');
}

function startOf({ block, foreground, since }: Activity): string {
	return (block?.state === 'running' ? block.startedAt : foreground?.startedAt) ?? since;
}

/** "0:07", "1:12", "1:02:03", "2 d 4 h"; '' if the start is in the future, because clocks differ. */
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

/** The text on one line, without control characters and direction overrides. */
export function oneLine(text: string): string {
	return text.replace(/[\s\p{C}]+/gu, ' ').trim();
}

/** A directory with ~ for the home directory; cut: its beginning is missing. */
export function shortDirectory(cwd: string, cut: boolean): string {
	return (cut ? '…' : '') + oneLine(cut ? cwd : cwd.replace(/^\/(?:root|home\/[^/]+)(?=\/|$)/, '~'));
}
