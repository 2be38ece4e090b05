import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Activity } from '../src/net/wire';
import { dropItem, EMPTY, newsOf, nextInbox, type Inbox } from '../src/ui/inbox';
import { at, block, session } from './sessions';

const one = (activity: Partial<Activity>) => [session(activity)];
const NOBODY: ReadonlySet<string> = new Set();
const seen: ReadonlySet<string> = new Set(['s', 'beside']);
const kinds = ({ items }: Inbox) => items.map(({ kind, text, by }) => [kind, text, by]);
const idle = nextInbox(EMPTY, one({}), NOBODY);
const asks = one({ status: 'waiting_input', input: 'password', since: at(5), block: block({ command: 'sudo make', by: 'exec', author: 'robot' }) });
const done = (fields: object) => one({ block: block({ id: 'b2', state: 'done', endedAt: at(3), exitCode: 1, ...fields }) });

test('a waiting session is listed as long as it waits, unless it is visible or was dismissed', () => {
	const waiting = nextInbox(EMPTY, asks, NOBODY);
	assert.deepEqual(kinds(waiting), [['password', 'password · sudo make', 'robot']]);
	assert.deepEqual(kinds(nextInbox(waiting, asks, seen)), []);
	assert.deepEqual(kinds(nextInbox(waiting, one({}), NOBODY)), []);
	const other = [session({ ...asks[0]!.activity!, block: block({ id: 'b9' }) })];
	assert.deepEqual(nextInbox(waiting, other, NOBODY).items.map(({ block }) => block), ['b9']);
	assert.equal(newsOf(waiting, nextInbox(waiting, other, NOBODY)).length, 1, 'another command that asks is a new item');
	const dropped = dropItem(waiting, waiting.items[0]!.key);
	assert.deepEqual(kinds(nextInbox(dropped, asks, NOBODY)), []);
	const again = one({ status: 'waiting_input', input: 'line', since: at(9) });
	assert.deepEqual(kinds(nextInbox(nextInbox(dropped, one({}), NOBODY), again, NOBODY)), [['waits', 'a line', '']]);
});

test('failures of agents and ends of long commands are reported once', () => {
	assert.deepEqual(kinds(nextInbox(idle, done({ by: 'exec', author: 'robot' }), NOBODY)), [['failed', '✗ 1 npm test', 'robot']]);
	assert.deepEqual(kinds(nextInbox(idle, done({}), NOBODY)), [], 'a short command that was typed');
	assert.deepEqual(kinds(nextInbox(idle, done({ endedAt: at(11) }), NOBODY)), [['failed', '✗ 1 npm test', '']]);
	assert.deepEqual(kinds(nextInbox(idle, done({ endedAt: at(11), exitCode: 0 }), NOBODY)), [['finished', '✓ npm test', '']]);
	assert.deepEqual(kinds(nextInbox(idle, done({ endedAt: at(11) }), seen)), [], 'the session is visible');
	assert.deepEqual(kinds(nextInbox(EMPTY, done({ endedAt: at(11) }), NOBODY)), [], 'before the page was opened');
	const long = done({ endedAt: at(11) });
	const told = nextInbox(idle, long, NOBODY), later = nextInbox(told, long, NOBODY);
	assert.deepEqual([kinds(later).length, newsOf(idle, told).length, newsOf(told, later).length], [1, 1, 0]);
	assert.deepEqual(kinds(nextInbox(dropItem(told, told.items[0]!.key), long, NOBODY)), []);
	assert.deepEqual(kinds(nextInbox(told, [], NOBODY)), [], 'the session is gone');
});

test('bells and notifications are reported, and counters may restart with the server', () => {
	const said = (count: number) => ({ text: 'a\nb', title: 't', at: at(count), count });
	const rang = nextInbox(idle, one({ bells: 2, notification: said(1) }), NOBODY);
	assert.deepEqual(kinds(rang), [['notification', 't: a b', ''], ['bell', 'rang', '']]);
	const anew = nextInbox(rang, one({ bells: 0 }), NOBODY);
	assert.deepEqual(kinds(anew), kinds(rang));
	assert.equal(nextInbox(anew, one({ bells: 1 }), NOBODY).items.length, 2, 'several bells are one item');
	assert.deepEqual(kinds(nextInbox(rang, one({ bells: 3 }), seen)), []);
});

test('the number of items is limited', () => {
	let inbox = idle;
	for (let count = 1; count <= 80; count++)
		inbox = nextInbox(inbox, one({ notification: { text: String(count), title: null, at: at(count), count } }), NOBODY);
	assert.deepEqual([inbox.items.length, inbox.items[49]?.text], [50, '80']);
});
