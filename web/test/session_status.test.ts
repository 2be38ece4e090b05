import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applySessionEvent } from '../src/net/session_updates';
import type { Session } from '../src/net/wire';
import { countWaiting, elapsed, folderOf, oneLine, shortDirectory, shortPath, statusOf } from '../src/ui/session_status';
import { at, block, session, T0 } from './sessions';

const shown = (it: Session, now = 72) => {
	const { kind, mark, text, time } = statusOf(it, T0 + now * 1000);
	return [kind, [mark, text, time].filter(Boolean).join(' ')];
};

test('a row shows the status of its session', () => {
	const done = (exitCode: number | null) => session({ block: block({ state: 'done', exitCode, command: 'make', endedAt: at(9) }) });
	assert.deepEqual(shown(session({ status: 'running', block: block({}) })), ['works', '▶ npm test 1:12']);
	assert.deepEqual(shown(session({ status: 'fullscreen', foreground: { name: 'vim', startedAt: at(70) } })), ['works', '▶ vim 0:02']);
	assert.deepEqual(shown(session({ status: 'fullscreen', input: 'raw', foreground: { name: 'vim', startedAt: at(70) } })), ['idle', '▣ vim']);
	assert.deepEqual(shown(session({ status: 'fullscreen', input: 'password', block: block({ command: 'ssh a' }) })), ['waits', '🔒 password · ssh a']);
	assert.deepEqual(shown(session({ status: 'starting' })), ['works', '▶ starting']);
	assert.deepEqual(shown(session({ status: 'starting', input: 'line' })), ['waits', '⌨ a line']);
	assert.deepEqual(shown(session({ status: 'running', since: at(71) })), ['works', '▶ 0:01']);
	assert.deepEqual(shown(done(1)), ['failed', '✗ 1 make']);
	assert.deepEqual(shown(done(0)), ['idle', '~/src · idle']);
	assert.deepEqual(shown(done(130)), ['idle', '~/src · idle']);
	assert.deepEqual(shown(done(null)), ['idle', '~/src · idle']);
	assert.deepEqual(shown(session({ status: 'waiting_input', input: 'password' })), ['waits', '🔒 password']);
	assert.deepEqual(shown(session({ status: 'waiting_input', input: 'line', block: block({ command: 'read x' }) })), ['waits', '⌨ a line · read x']);
	assert.deepEqual(shown(session({ status: 'waiting_input', input: 'raw', foreground: { name: 'less', startedAt: null } })), ['waits', '⌨ a key · less']);
	assert.deepEqual(shown(session({ status: 'stopped', foreground: { name: 'vim', startedAt: null } })), ['idle', '⏸ vim is stopped']);
	assert.deepEqual(shown(session({ cwd: null })), ['idle', 'idle']);
	assert.deepEqual(shown(session(null)), ['unknown', '~']);
	const ended = { state: 'exited', exit: { code: 3, signal: null, reason: 'exited' } } as const;
	assert.deepEqual(shown(session({ status: 'exited' }, ended)), ['ended', '✗ ended: 3']);
	assert.deepEqual(shown(session(null, { state: 'exited' })), ['ended', 'ended']);
	assert.deepEqual(shown(session(null, { state: 'unreachable', node: 'b' })), ['unknown', '⊘ unreachable: b is away']);
});

test('times are short, and empty if the start is in the future', () => {
	assert.deepEqual([0, 7, 3599, 3723, 172_799, 187_200].map((s) => elapsed(at(0), T0 + s * 1000)),
		['0:00', '0:07', '59:59', '1:02:03', '47:59:59', '2 d 4 h']);
	assert.equal(elapsed(at(5), T0), '');
	assert.equal(elapsed('nonsense', T0), '');
});

test('texts of programs become one line without direction overrides and invisible characters', () => {
	assert.equal(oneLine('a\n\tb\u202e\u0007c\u200b'), 'a b c');
	assert.equal(oneLine('<img src=x>'), '<img src=x>');
	assert.deepEqual(['/root', '/rootx', '/home/ada/x', '/homes', '/'].map((cwd) => shortDirectory(cwd, false)), ['~', '/rootx', '~/x', '/homes', '/']);
	assert.equal(shortDirectory('/home/ada', true), '…/home/ada');
});

test('a long path is shortened to its end', () => {
	assert.equal(shortPath('~/src/ringside'), '~/src/ringside');
	assert.equal(shortPath('~/work/company/services/checkout/src'), '…/services/checkout/src');
	assert.equal(shortPath(`/${'x'.repeat(40)}`), `…/${'x'.repeat(40)}`, 'the row cuts it');
});

test('the directory of a session is the one of its shell, if it is known', () => {
	assert.deepEqual([session({}), session({ cwd: null }), session(null), session({ cwd: 'ort', cwdCut: true })].map(folderOf), ['~/src', '', '~', '…ort']);
});

test('events replace the list or only the activity of sessions', () => {
	const [a, b] = [session({}, { id: 'a' }), session({}, { id: 'b' })];
	const first = applySessionEvent([], { type: 'sessions', sessions: [a, b] });
	const asks = session({ status: 'waiting_input', input: 'line' }).activity!;
	const then = applySessionEvent(first, { type: 'activity', activities: [{ id: 'b', activity: asks }, { id: 'gone', activity: asks }] });
	assert.deepEqual(then.map(({ id, activity }) => [id, activity?.status]), [['a', 'prompt'], ['b', 'waiting_input']]);
	assert.equal(then[0], a, 'other sessions keep their objects');
	assert.deepEqual([countWaiting(first), countWaiting(then)], [0, 1]);
	assert.equal(applySessionEvent(then, { type: 'later' } as never), then);
});
