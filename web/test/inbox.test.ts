import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Activity } from '../src/net/wire';
import { addedItems, anyUnseen, dropItem, EMPTY, nextInbox, type Inbox } from '../src/ui/inbox';
import { at, block, session } from './sessions';

const one = (activity: Partial<Activity>) => [session(activity)];
const NONE: ReadonlySet<string> = new Set();
const seen: ReadonlySet<string> = new Set(['s', 'beside']);
const kinds = ({ items }: Inbox) => items.map(({ kind, text, by }) => [kind, text, by]);
const idle = nextInbox(EMPTY, one({}), NONE);
const asks = one({ status: 'waiting_input', input: 'password', since: at(5), block: block({ command: 'sudo make', by: 'exec', author: 'robot' }) });
const done = (fields: object) => one({ block: block({ id: 'b2', state: 'done', endedAt: at(3), exitCode: 1, ...fields }) });

test('a waiting session is listed as long as it waits, unless it is visible or was dismissed', () => {
	const waiting = nextInbox(EMPTY, asks, NONE);
	assert.deepEqual(kinds(waiting), [['password', 'password · sudo make', 'robot']]);
	assert.deepEqual(kinds(nextInbox(waiting, asks, seen)), []);
	assert.deepEqual(kinds(nextInbox(waiting, one({}), NONE)), []);
	const other = [session({ ...asks[0]!.activity!, block: block({ id: 'b9' }) })];
	assert.deepEqual(nextInbox(waiting, other, NONE).items.map(({ block }) => block), ['b9']);
	assert.equal(addedItems(waiting, nextInbox(waiting, other, NONE)).length, 1, 'another command that asks is a new item');
	const dropped = dropItem(waiting, waiting.items[0]!.key);
	assert.deepEqual(kinds(nextInbox(dropped, asks, NONE)), []);
	const again = one({ status: 'waiting_input', input: 'line', since: at(9) });
	assert.deepEqual(kinds(nextInbox(nextInbox(dropped, one({}), NONE), again, NONE)), [['waits', 'a line', '']]);
});

test('failures of agents and ends of long commands are reported once', () => {
	assert.deepEqual(kinds(nextInbox(idle, done({ by: 'exec', author: 'robot' }), NONE)), [['failed', '✗ 1 npm test', 'robot']]);
	assert.deepEqual(kinds(nextInbox(idle, done({}), NONE)), [], 'a short command that was typed');
	assert.deepEqual(kinds(nextInbox(idle, done({ endedAt: at(11) }), NONE)), [['failed', '✗ 1 npm test', '']]);
	assert.deepEqual(kinds(nextInbox(idle, done({ endedAt: at(11), exitCode: 0 }), NONE)), [['finished', '✓ npm test', '']]);
	assert.deepEqual(kinds(nextInbox(idle, done({ endedAt: at(11) }), seen)), [], 'the session is visible');
	assert.deepEqual(kinds(nextInbox(EMPTY, done({ endedAt: at(11) }), NONE)), [], 'before the page was opened');
	const long = done({ endedAt: at(11) });
	const reported = nextInbox(idle, long, NONE), later = nextInbox(reported, long, NONE);
	assert.deepEqual([kinds(later).length, addedItems(idle, reported).length, addedItems(reported, later).length], [1, 1, 0]);
	assert.deepEqual(kinds(nextInbox(dropItem(reported, reported.items[0]!.key), long, NONE)), []);
	assert.deepEqual(kinds(nextInbox(reported, [], NONE)), [], 'the session is gone');
});

test('bells and notifications are reported, and counters may restart with the server', () => {
	const notification = (count: number) => ({ text: 'a\nb', title: 't', at: at(count), count });
	const rang = nextInbox(idle, one({ bells: 2, notification: notification(1) }), NONE);
	assert.deepEqual(kinds(rang), [['notification', 't: a b', ''], ['bell', 'rang', '']]);
	const restarted = nextInbox(rang, one({ bells: 0 }), NONE);
	assert.deepEqual(kinds(restarted), kinds(rang));
	assert.equal(nextInbox(restarted, one({ bells: 1 }), NONE).items.length, 2, 'several bells are one item');
	assert.deepEqual(kinds(nextInbox(rang, one({ bells: 3 }), seen)), []);
});

test('bells and failures stay unseen until the session is visible, or their item is dismissed', () => {
	const quiet = { bell: false, failed: false };
	assert.deepEqual(anyUnseen(nextInbox(EMPTY, one({ bells: 3, ...done({})[0]!.activity }), NONE)), quiet, 'before the page was opened');
	const failed = nextInbox(idle, done({}), NONE);
	assert.deepEqual(failed.unseen.get('s'), { bell: false, failed: true }, 'a short command that was typed counts too');
	const rang = nextInbox(failed, one({ bells: 1, block: block({ id: 'b3', state: 'done', exitCode: 0 }) }), NONE);
	assert.deepEqual(rang.unseen.get('s'), { bell: true, failed: true }, 'a later success hides no failure');
	const later = nextInbox(rang, [session(null)], NONE);
	assert.equal(later.unseen.get('s'), rang.unseen.get('s'), 'nothing changed');
	assert.deepEqual(anyUnseen(dropItem(later, 's bell')), { bell: false, failed: true });
	assert.deepEqual(anyUnseen(nextInbox(later, one({ bells: 1 }), seen)), quiet);
	assert.deepEqual(anyUnseen(nextInbox(later, [], NONE)), quiet, 'the session is gone');
	assert.deepEqual(anyUnseen(nextInbox(idle, done({ exitCode: 130 }), NONE)), quiet, 'interrupted');
	assert.deepEqual(anyUnseen(nextInbox(idle, done({ exitCode: 0 }), NONE)), quiet);
	assert.deepEqual(anyUnseen(nextInbox(idle, one({ bells: 2 }), seen)), quiet, 'it is visible');
});

test('the number of items is limited', () => {
	let inbox = idle;
	for (let count = 1; count <= 80; count++)
		inbox = nextInbox(inbox, one({ notification: { text: String(count), title: null, at: at(count), count } }), NONE);
	assert.deepEqual([inbox.items.length, inbox.items[49]?.text], [50, '80']);
});
