// The activity of sessions, in lists and their events, with real programs.
import assert from 'node:assert/strict';
import { EventStream } from './lib/sse.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const PATH = '/api/session/events?activity=1';

/** Follows a list as a page does, and keeps its events. */
class Follower {
	constructor(server, token = server.token) {
		this.stream = new EventStream(server, PATH, { token });
	}

	/** The activity of each session now. */
	get activities() {
		let latest = new Map();
		for (const event of this.stream.events) {
			if (event.type === 'sessions') latest = new Map(event.sessions.map(({ id, activity }) => [id, activity]));
			else for (const { id, activity } of event.activities) latest.set(id, activity);
		}
		return latest;
	}

	reaches(what, id, fits) {
		let last;
		return until(() => `${what}, but ${JSON.stringify(last)}`, () => {
			last = this.activities.get(id);
			return last && fits(last) ? last : false;
		}, { timeout: 30_000 });
	}
}

const isIdle = ({ status, block }) => status === 'prompt' && block?.state !== 'running';

shared('activity of people and programs is reported as it happens', async (server) => {
	await server.session({ id: 's', cwd: server.cwd });
	const list = new Follower(server);
	const idle = await list.reaches('a prompt', 's', isIdle);
	assert.deepEqual([idle.input, idle.foreground, idle.lease, idle.bells, idle.notification], [null, null, null, 0, null]);
	assert.equal(idle.cwd, server.cwd);
	await server.api.input('s', 'sleep 1000\r');
	const works = await list.reaches('work', 's', ({ status, foreground }) => status === 'running' && foreground?.name === 'sleep');
	assert.deepEqual([works.block.command, works.block.by, works.block.author, works.block.exitCode], ['sleep 1000', 'human', 'owner', null]);
	assert.ok(Date.parse(works.foreground.startedAt) <= Date.now());
	await server.api.input('s', '\x03');
	const failed = await list.reaches('a failure', 's', isIdle);
	assert.deepEqual([failed.block.state, failed.block.exitCode], ['done', 130]);
	const progress = async (sequence, wanted) => {
		await server.api.input('s', `printf '\\e]9;4;${sequence}\\a'; sleep 1000\r`);
		await list.reaches(`progress ${sequence}`, 's', (it) => JSON.stringify(it.progress) === JSON.stringify(wanted));
		await server.api.input('s', '\x03');
		await list.reaches('no progress', 's', (it) => isIdle(it) && it.progress === null);
	};
	await progress('1;42', { state: 'normal', percent: 42 });
	await progress('3', { state: 'indeterminate', percent: null });
	await progress('1;70\\a\\e]9;4;2', { state: 'error', percent: 70 });
	await progress('4;4000', { state: 'paused', percent: 100 });
	await server.api.input('s', 'read -s word\r');
	const asks = await list.reaches('a password', 's', ({ input }) => input === 'password');
	assert.ok(Date.parse(asks.since) >= Date.parse(failed.since));
	assert.ok(!JSON.stringify(list.stream.events).includes('humanUrl'), 'humanUrl is only in an answer to a request for it');
	await server.api.input('s', 'hunter2\r');
	await list.reaches('the prompt again', 's', isIdle);
	assert.doesNotMatch(JSON.stringify(list.stream.events), /hunter2/);
	await server.api.call('POST', '/api/session/s/exec', { command: 'printf "\\a"; printf "\\033]9;built\\007"; cd /; false' });
	const rang = await list.reaches('a bell', 's', (it) => it.bells > 0 && it.notification && isIdle(it) && it.cwd === '/');
	assert.deepEqual([rang.block.by, rang.block.exitCode, rang.notification.text, rang.notification.count], ['exec', 1, 'built', 1]);
	await server.api.call('POST', '/api/session/s/lease', { owner: 'robot' });
	assert.equal((await list.reaches('a lease', 's', ({ lease }) => lease)).lease.owner, 'robot');
	await server.api.call('DELETE', '/api/session/s/lease', {});
	await list.reaches('its end', 's', ({ lease }) => lease === null);
	assert.equal((await server.api.call('GET', '/api/session/list')).sessions.find(({ id }) => id === 's').activity.cwd, '/');
	assert.equal((await server.api.get('s')).activity.block.exitCode, 1);
	// Streams that have not asked for activity get the list alone.
	const plain = new EventStream(server, '/api/session/events');
	await plain.until('the list', ({ type }) => type === 'sessions');
	await server.api.input('s', 'exit 3\r');
	await list.reaches('the end', 's', ({ status }) => status === 'exited');
	assert.ok(plain.events.every(({ type }) => type === 'sessions'));
});

shared('unseen output, and what a link may not see', async (server) => {
	await server.session({ id: 's' });
	await server.session({ id: 'other' });
	const { token } = (await server.api.call('POST', '/api/session/s/links', { role: 'viewer' }));
	const list = new Follower(server), theirs = new Follower(server, token);
	await list.reaches('a prompt', 's', isIdle);
	await list.reaches('a prompt', 'other', isIdle);
	await server.api.call('POST', '/api/session/s/exec', { command: 'echo hello' });
	await list.reaches('something unread', 's', ({ unread }) => unread);
	const viewer = await server.client({ sessionId: 's', token }).connect();
	await list.reaches('it read', 's', ({ unread }) => !unread);
	viewer.terminate();
	await server.api.call('POST', '/api/session/other/exec', { command: 'echo secret-of-others' });
	await list.reaches('the other session', 'other', ({ block }) => /secret-of-others/.test(block?.command));
	await server.api.call('POST', '/api/session/s/exec', { command: 'echo seen' });
	await theirs.reaches('its own', 's', ({ block }) => block?.command === 'echo seen');
	assert.deepEqual([...theirs.activities.keys()], ['s']);
	assert.doesNotMatch(JSON.stringify(theirs.stream.events), /secret-of-others|"other"/);
	await server.kill();
	await server.start();
	const after = new Follower(server);
	const again = await after.reaches('the same from the next server', 's', isIdle);
	assert.equal(again.block.command, 'echo seen');
	assert.equal(again.unread, false);
});

shared('hostile texts stay text and are shortened', async (server) => {
	await server.session({ id: 's' });
	const list = new Follower(server);
	await list.reaches('a prompt', 's', isIdle);
	await server.api.call('POST', '/api/session/s/exec', {
		command: `: '${'<img src=x>'.repeat(300)}'; printf '\\033]9;%s\\377\\007' "$(printf 'ä%.0s' {1..900})"`,
	});
	const received = await list.reaches('a notification', 's', ({ notification }) => notification);
	assert.ok(Buffer.byteLength(received.notification.text) <= 256 && received.notification.text.startsWith('ää'), received.notification.text);
	assert.ok(Buffer.byteLength(received.block.command) <= 256 && received.block.command.startsWith(": '<img"));
	await server.api.call('POST', '/api/session/s/exec', { command: 'd=$(printf "ä%.0s" {1..100}); for i in 1 2 3; do mkdir -p "$d" && cd "$d"; done' });
	const deep = await list.reaches('a deep place', 's', ({ cwdCut }) => cwdCut);
	assert.ok(Buffer.byteLength(deep.cwd) <= 256 && !deep.cwd.includes('\ufffd'), deep.cwd);
	await server.api.refused(400, 'VALIDATION_FAILED', 'GET', '/api/session/events?activity=x');
});
