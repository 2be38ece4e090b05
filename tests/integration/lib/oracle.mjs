// Random mixed work whose responses are recorded and compared: with later responses, with files that the commands write
// themselves, and with the bytes of viewers.
//
// A request that was cut off may have been carried out or not: both are right, but never half of it, and never twice. The
// same seed makes the same work, but not the same timing.
import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Random } from '../../lib/grammar.mjs';
import { isAlive } from './proc.mjs';
import { pause, until } from './until.mjs';

export const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9));

/** Print a start text, then append input to a file, byte for byte. */
const taker = String.raw`$| = 1; open my $out, ">>", $ARGV[0] or die; $out->autoflush; print "<takes>";
while (sysread STDIN, my $bytes, 65536) { print $out $bytes }`;

/** Codes that say that nothing was done, and one that says that it may have been. */
const refusals = new Set(['LIMIT_REACHED', 'RESOURCE_BUSY', 'TOO_MANY_FILES', 'NO_SPACE', 'OPERATION_INTERRUPTED']);
const doubtful = 'PROCESS_ERROR'; // could not be started, or reached

/** An acknowledged value, and later values whose responses were lost. */
class Candidates {
	constructor(value) {
		this.values = [value];
	}

	/** Returns a function to call when the server has acknowledged the value. */
	intend(value) {
		this.values.push(value);
		return () => { this.values = [value]; };
	}

	/** The current value is the acknowledged one from now on. */
	check(value, what) {
		const same = (each) => JSON.stringify(each) === JSON.stringify(value);
		assert.ok(this.values.some(same), `${what} is ${JSON.stringify(value)} instead of ${JSON.stringify(this.values)}`);
		this.values = [value];
	}
}

export class Oracle {
	/** sessions: number of sessions with a working shell; viewers: clients per session that count every byte. */
	constructor(server, { sessions = 3, viewers = 1, mayRefuse = false } = {}) { // mayRefuse: resources may be exhausted
		this.server = server;
		this.random = new Random(seed);
		this.mayRefuse = mayRefuse;
		this.wanted = { sessions, viewers };
		this.sessions = new Map();
		this.execs = [];
		this.processes = [];
		this.links = [];
		this.typed = [];
		this.waits = [];
		this.viewers = [];
		this.count = 0;
		this.excused = 0; // records of commands that could not be written, as the server has counted
		this.tally = {};
		console.log(`# SEED=${seed}`);
	}

	get api() {
		return this.server.api;
	}

	get effectsFile() {
		return path.join(this.server.cwd, 'effects');
	}

	/** The number of runs of each command, from its own log. */
	effects() {
		const found = new Map();
		for (const line of readFileSync(this.effectsFile, 'latin1').split('\n')) found.set(line, (found.get(line) ?? 0) + 1);
		return found;
	}

	async begin() {
		appendFileSync(this.effectsFile, '');
		writeFileSync(path.join(this.server.cwd, 'taker.pl'), taker);
		for (let at = 0; at < this.wanted.sessions; at += 1) await this.#open(`s${at}`);
		await this.#open('taker');
		await this.api.input('taker', `stty raw -echo; perl taker.pl '${path.join(this.server.cwd, 'taken')}'\r`);
		await this.server.outputMatches('taker', /<takes>$/);
		for (const id of this.sessions.keys()) {
			for (let at = 0; at < this.wanted.viewers; at += 1) {
				const client = this.server.client({ sessionId: id, lag: 1e12, keepLog: false });
				await client.connect({ history: true });
				this.viewers.push(client);
			}
		}
		this.followed = this.viewers.map(async (client) => {
			await client.close();
			return client.follow();
		});
		this.followed.forEach((each, at) => each.catch((error) => { this.viewers[at].failure ??= error; }));
		return this;
	}

	async #open(id) {
		const { pid, epoch, name, cols, rows } = await this.server.session({ id, cwd: this.server.cwd });
		this.sessions.set(id, { id, pid, epoch, name: new Candidates(name), size: new Candidates([cols, rows]) });
	}

	/** Send a request that may be cut off; returns its response, or undefined. */
	async #ask(what, method, route, body) {
		this.tally[what] = (this.tally[what] ?? 0) + 1;
		let answer;
		try {
			answer = await this.api.raw(method, route, body);
		} catch {
			return undefined; // the server is gone
		}
		if (answer.status === 200) {
			assert.equal(answer.json?.success, true, `${what}: ${answer.text}`);
			return answer.json;
		}
		const summary = `${method} ${route} ${JSON.stringify(body)}: ${answer.status} ${answer.text}`;
		assert.ok(answer.json?.code && answer.json.message, summary);
		if (this.mayRefuse && answer.json.code === doubtful) return undefined;
		assert.ok(refusals.has(answer.json.code) && (this.mayRefuse || answer.status < 500), summary);
		return { refused: answer.json.code };
	}

	/** Do the next piece of work. Resolves with its response, or when it was cut off. */
	act() {
		const { random } = this;
		const shells = [...this.sessions.keys()].filter((id) => id !== 'taker');
		const id = random.pick(shells);
		this.count += 1;
		return random.pick([
			() => this.exec(id), () => this.exec(id), () => this.exec(id), () => this.execAgain(),
			() => this.rename(id), () => this.resize(id), () => this.link(id), () => this.revoke(),
			() => this.process(), () => this.process(), () => this.type(), () => this.type(), () => this.wait(id),
		])();
	}

	/** Do that many pieces of work, mostly concurrently. */
	async work(pieces) {
		const begun = [];
		for (let at = 0; at < pieces; at += 1) {
			begun.push(this.act());
			await pause(this.random.below(8));
		}
		return Promise.all(begun);
	}

	async exec(id) {
		const { random } = this;
		const key = `exec-${this.count}`;
		const code = random.below(200);
		const lines = 1 + random.below(4);
		const streams = random.pick(['terminal', 'terminal', 'pipes']);
		const command = `echo ${key} >>'${this.effectsFile}'; for i in {1..${lines}}; do echo ${key} $i; sleep 0.0${random.below(5)}; done; (exit ${code})`;
		const output = Array.from({ length: lines }, (_, at) => `${key} ${at + 1}\n`).join('');
		const body = { command, key, streams, queue: true, yieldMs: random.pick([0, 30, 5000]), ...(streams === 'pipes' ? { stdin: null } : {}) };
		const exec = { id, key, code, output, body, exec: undefined, finished: undefined };
		this.execs.push(exec);
		await this.#recordExec(exec, await this.#ask('exec', 'POST', `/api/session/${id}/exec`, body));
	}

	/** Send an earlier request again with its key: the same command, or another try if it has not run. */
	async execAgain() {
		if (this.execs.length === 0) return;
		const exec = this.random.pick(this.execs);
		if (exec.refused) return;
		await this.#recordExec(exec, await this.#ask('exec again', 'POST', `/api/session/${exec.id}/exec`, exec.body));
	}

	async #recordExec(exec, answer) {
		const wasUnanswered = exec.unanswered;
		exec.unanswered = true; // another try may have started without a response
		if (!answer) return;
		if (answer.refused) {
			exec.refused = !exec.exec && !wasUnanswered && answer.refused;
			exec.unanswered = wasUnanswered;
			return;
		}
		const { data } = answer;
		const about = JSON.stringify(data);
		assert.equal(data.key, exec.key, about);
		assert.equal(data.command, exec.body.command, about);
		if (exec.exec && data.id !== exec.exec) {
			const before = await this.#ask('exec before', 'GET', `/api/session/${exec.id}/exec/${exec.exec}`);
			if (!before || before.refused) return;
			assert.ok(before.data.state === 'done' && before.data.endedBy === 'not_started',
				`the same key is another command: ${about}, before it was ${JSON.stringify(before.data)}`);
			exec.finished = undefined;
		}
		exec.exec = data.id;
		exec.unanswered = false;
		this.#checkExec(exec, data);
	}

	#checkExec(exec, data) {
		const about = JSON.stringify(data);
		assert.ok(['queued', 'starting', 'running', 'done'].includes(data.state), about);
		if (exec.finished && this.excused > 0 && data.endedBy === 'unknown') {
			this.excused -= 1; // its request is recorded, but not its end
			exec.finished = undefined;
		}
		if (exec.finished) {
			for (const field of ['exitCode', 'endedBy', 'startedAt', 'endedAt']) assert.equal(data[field], exec.finished[field], `${field} was ${JSON.stringify(exec.finished)}, is ${about}`);
		}
		if (data.state !== 'done') {
			assert.equal(exec.finished, undefined, `it had ended: ${about}`);
			assert.deepEqual([data.exitCode, data.endedBy, data.endedAt], [null, null, null], about);
			return;
		}
		if (data.endedBy === 'command') {
			assert.equal(data.exitCode, exec.code, about);
			if (data.outputExact) assert.equal(data.output ?? data.stdout, exec.output, about);
		}
		exec.finished = data;
	}

	/** The possible numbers of runs. */
	static #runs({ finished, refused, forgotten, unanswered }) {
		if (forgotten) return [0, 1, 2];
		if (refused) return [0];
		if (!finished) return [0, 1];
		if (finished.endedBy === 'command' || (finished.exitCode !== null && finished.startedAt)) return [1];
		const never = ['not_started', 'busy'].includes(finished.endedBy) || !finished.startedAt && finished.endedBy === 'cancelled';
		return never && !unanswered ? [0] : [0, 1];
	}

	async rename(id) {
		const name = `name ${this.count} ü`;
		const session = this.sessions.get(id);
		if (session.renaming) return; // two at once may come in any order
		session.renaming = true;
		const done = session.name.intend(name);
		const answer = await this.#ask('rename', 'POST', `/api/session/${id}/rename`, { name });
		session.renaming = false;
		if (answer && !answer.refused) done();
	}

	async resize(id) {
		const size = [60 + this.random.below(100), 20 + this.random.below(30)];
		const session = this.sessions.get(id);
		if (session.resizing) return; // two at once may come in any order
		session.resizing = true;
		const done = session.size.intend(size);
		const answer = await this.#ask('resize', 'POST', `/api/session/${id}/resize`, { cols: size[0], rows: size[1] });
		session.resizing = false;
		if (answer && !answer.refused) done();
	}

	async link(id) {
		if (this.links.filter((each) => each.session === id && !each.revoked).length > 20) return;
		const role = this.random.pick(['viewer', 'driver']);
		const answer = await this.#ask('link', 'POST', `/api/session/${id}/links`, { role, name: `link ${this.count}` });
		if (answer?.token) this.links.push({ session: id, role, id: answer.link.id, token: answer.token });
	}

	async revoke() {
		const link = this.random.pick(this.links.filter((each) => !each.revoked).concat(undefined));
		if (!link) return;
		link.revoked = 'asked';
		const answer = await this.#ask('revoke', 'DELETE', `/api/session/${link.session}/links/${link.id}`);
		if (answer && !answer.refused) link.revoked = 'done';
	}

	async process() {
		const id = `p${this.count}`;
		const code = this.random.below(100);
		const lines = this.random.pick([1, 50, 3000]);
		const command = `echo ${id} >>'${this.effectsFile}'; seq ${lines}; sleep 0.${this.random.below(3)}; exit ${code}`;
		const process = { id, code, lines };
		this.processes.push(process);
		const answer = await this.#ask('process', 'POST', '/api/process/start', { command, processId: id });
		process.acknowledged = Boolean(answer && !answer.refused);
		process.refused = answer?.refused;
		process.pid = answer?.pid;
	}

	async type() {
		const text = `<${this.count}>`;
		const entry = { text, acknowledged: false };
		this.typed.push(entry);
		const answer = await this.#ask('type', 'POST', '/api/session/taker/keys', { text, name: 'oracle' });
		entry.refused = answer?.refused;
		entry.acknowledged = Boolean(answer && !answer.refused && answer.written === text.length);
	}

	async wait(id) {
		const wait = { id, key: `wait-${this.count}`, from: 0, pattern: `awake\\d+` };
		const body = { until: [{ type: 'match', pattern: wait.pattern }], from: 0, timeoutMs: 60_000, key: wait.key };
		const answer = await this.#ask('wait', 'POST', `/api/session/${id}/wait`, body);
		if (!answer || answer.refused) return;
		assert.equal(answer.type, 'match', JSON.stringify(answer));
		this.waits.push({ ...wait, body, offset: answer.offset, text: answer.text });
	}

	/** Everything that was acknowledged is there and true. For a server that has just started. */
	async check() {
		await this.#checkSessions();
		await this.#checkLinks();
		await this.#checkProcesses();
		for (const exec of this.execs.slice(-40)) await this.#lookAt(exec);
		for (const wait of this.waits.splice(0)) {
			const got = await this.api.call('POST', `/api/session/${wait.id}/wait`, wait.body);
			assert.deepEqual([got.type, got.offset, got.text], ['match', wait.offset, wait.text]);
		}
		this.#checkEffects();
		this.viewers.forEach((client) => client.check());
	}

	/** Before a server without disk space is killed: records that it reports as unwritten may be lost. */
	async excuse() {
		const { text } = await this.api.raw('GET', '/metrics');
		this.excused += Number(/^ringside_execs_not_kept_total (\d+)$/m.exec(text)[1]);
	}

	async #lookAt(exec) {
		if (!exec.exec) return;
		const answer = await this.api.raw('GET', `/api/session/${exec.id}/exec/${exec.exec}`);
		if (answer.status === 404 && this.excused > 0) {
			this.excused -= 1;
			exec.forgotten = true;
			exec.exec = exec.finished = undefined;
			return;
		}
		assert.equal(answer.status, 200, `${exec.key} was acknowledged as ${JSON.stringify(exec.finished ?? 'begun')} and is forgotten: ${answer.text}`);
		this.#checkExec(exec, answer.json.data);
	}

	async #checkSessions() {
		const { sessions } = await this.api.list();
		for (const { id, pid, epoch, name, size } of this.sessions.values()) {
			const found = sessions.find((each) => each.id === id);
			assert.ok(found, `session ${id} is gone`);
			assert.deepEqual([found.pid, found.epoch, found.state], [pid, epoch, 'running'], id);
			name.check(found.name, `the name of ${id}`);
			size.check([found.cols, found.rows], `the size of ${id}`);
		}
	}

	async #checkLinks() {
		for (const link of this.links) {
			const { status } = await this.api.as(link.token).raw('GET', `/api/session/${link.session}`);
			if (link.revoked === 'asked') continue; // its revocation was not acknowledged
			// The server limits requests with many revoked links: it does not recognize them.
			const right = link.revoked ? [401, 429] : [200];
			assert.ok(right.includes(status), `${status} for a link (${link.revoked ?? 'not revoked'}) of ${link.session}`);
		}
		this.links = this.links.filter((link, at) => !link.revoked || at > this.links.length - 10);
	}

	async #checkProcesses() {
		const { processes } = await this.api.call('GET', '/api/process/list');
		const listed = new Map(processes.map((each) => [each.id, each]));
		for (const process of this.processes) {
			const found = listed.get(process.id);
			if (process.acknowledged) assert.ok(found, `process ${process.id} was acknowledged and is gone`);
			if (!found) continue;
			assert.ok(!process.refused, `process ${process.id} was refused (${process.refused}) and is there`);
			if (process.pid) assert.equal(found.pid, process.pid, process.id);
			if (process.ended) assert.equal(found.exitCode, process.code, JSON.stringify(found));
			else if (!['starting', 'running'].includes(found.status)) await this.#endOfProcess(process, found);
		}
	}

	async #endOfProcess(process, found) {
		assert.deepEqual([found.exitCode, found.status], [process.code, process.code ? 'failed' : 'completed'], JSON.stringify(found));
		const { stdout, lost } = await this.api.call('GET', `/api/process/${process.id}/logs`);
		const whole = Array.from({ length: process.lines }, (_, at) => `${at + 1}\n`).join('');
		assert.deepEqual([stdout === whole, lost], [true, 0], `${process.id}: ${stdout.length} of ${whole.length} bytes`);
		process.ended = true;
	}

	#checkEffects() {
		const effects = this.effects();
		for (const exec of this.execs) {
			const runs = effects.get(exec.key) ?? 0;
			assert.ok(Oracle.#runs(exec).includes(runs), `${exec.key} ran ${runs} times; it is ${JSON.stringify(exec.finished ?? exec.refused ?? 'not known to have ended')}`);
		}
		for (const { id, acknowledged, refused, ended } of this.processes) {
			const runs = effects.get(id) ?? 0;
			assert.ok(runs <= 1, `${id} ran ${runs} times`);
			if (ended) assert.equal(runs, 1, id);
			if (refused) assert.equal(runs, 0, `${id} was refused (${refused})`);
			assert.ok(acknowledged !== undefined || runs <= 1);
		}
	}

	#checkTaken() {
		const taken = readFileSync(path.join(this.server.cwd, 'taken'), 'latin1');
		let rest = taken;
		for (const { text, acknowledged, refused } of this.typed) {
			const times = taken.split(text).length - 1;
			assert.ok(times <= 1, `${text} arrived ${times} times`);
			if (acknowledged) assert.equal(times, 1, `${text} was acknowledged, but did not arrive`);
			if (refused) assert.equal(times, 0, `${text} was refused (${refused})`);
			rest = rest.replace(text, '');
		}
		assert.equal(rest, '', 'an incomplete line arrived');
	}

	/** Wait for the end of all work, and check everything. */
	async end() {
		for (const exec of this.execs) {
			if (!exec.exec) continue;
			await until(() => `the end of ${exec.key}`, async () => {
				await this.#lookAt(exec);
				return exec.finished;
			});
		}
		await until('the end of the processes', async () => (await this.api.call('GET', '/api/process/list?status=running')).processes.length === 0);
		await this.check();
		const taken = () => readFileSync(path.join(this.server.cwd, 'taken'), 'latin1');
		await until(() => `all acknowledged input in ${taken().slice(-200)}`, () => this.typed.every(({ text, acknowledged }) => !acknowledged || taken().includes(text)));
		this.#checkTaken();
		await this.checkViewers();
		console.log(`# ${JSON.stringify(this.tally)}`);
	}

	/** No byte of a viewer is lost or duplicated. */
	async checkViewers() {
		for (const client of this.viewers) {
			const { offset, oldest } = await until('the end of the output', async () => {
				const one = await this.api.get(client.sessionId);
				await pause(100);
				const two = await this.api.get(client.sessionId);
				return one.offset === two.offset && two;
			});
			await client.untilOffset(offset);
			assert.deepEqual(client.gaps.map(({ from, to, skipped }) => ({ from, to, skipped })), [], client.sessionId);
			assert.deepEqual([client.since, client.bytes.length], [0, offset], client.sessionId);
			const whole = await this.api.output(client.sessionId, oldest);
			assert.ok(client.bytes.subarray(oldest, oldest + whole.length).equals(whole), `different bytes for a viewer of ${client.sessionId}`);
		}
	}

	/** End the viewers, before the sessions end. */
	stop() {
		for (const client of this.viewers) client.terminate();
		for (const { pid } of this.sessions.values()) assert.ok(isAlive(pid));
	}
}
