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

const PATH_MAX = 30; // characters that fit into a row
const INTERRUPTED = 130; // Ctrl-C: not shown as a failure

/** Whether a command has failed. */
export function isFailure(exitCode: number | null | undefined): boolean {
	return exitCode !== null && exitCode !== undefined && exitCode !== 0 && exitCode !== INTERRUPTED;
}

/** now: of this machine's clock. */
export function statusOf(session: Session, now: number): SessionStatus {
	const { activity, state, exit } = session;
	if (state === 'exited') {
		const failed = exit !== null && (exit.signal !== null || (exit.code ?? 0) !== 0);
		return { kind: 'ended', mark: failed ? '✗' : '', text: failed ? `ended: ${exit.signal ?? exit.code}` : 'ended', time: '' };
	}
	if (state === 'unreachable')
		return { kind: 'unknown', mark: '⊘', text: `unreachable: ${session.node ?? 'its node'} is away`, time: '' };
	if (!activity)
		return { kind: 'unknown', mark: '', text: shortPath(folderOf(session)), time: '' };
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
		return atPrompt(session, activity);
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

function atPrompt(session: Session, { block }: Activity): SessionStatus {
	if (block?.state === 'done' && isFailure(block.exitCode))
		return { kind: 'failed', mark: '✗', text: `${block.exitCode} ${oneLine(block.command ?? '')}`.trim(), time: '' };
	const folder = folderOf(session);
	return folder === '' ? { kind: 'idle', mark: '', text: 'idle', time: '' }
		: { kind: 'idle', mark: '', text: shortPath(folder), time: '· idle' };
}

/** The session's directory with ~ for the home directory; '' if it is not known. */
export function folderOf({ activity, cwd }: Session): string {
	return activity ? shortDirectory(activity.cwd ?? '', activity.cwdCut) : shortDirectory(cwd, false);
}

/** A path, or the end of a long one. */
export function shortPath(path: string): string {
	if (path.length <= PATH_MAX)
		return path;
	const parts = path.split('/');
	let end = parts.pop() ?? '';
	for (let part = parts.pop(); part !== undefined && part.length + end.length < PATH_MAX - 2; part = parts.pop())
		end = `${part}/${end}`;
	return `…/${end}`;
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
