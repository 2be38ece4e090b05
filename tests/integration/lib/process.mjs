// Processes over HTTP, as a program uses them.
import { EventStream } from './sse.mjs';
import { until } from './until.mjs';

export class Processes {
	constructor(server) {
		this.server = server;
	}

	get api() {
		return this.server.api;
	}

	/** Starts one; resolves with the answer. */
	start(command, fields = {}) {
		return this.api.call('POST', '/api/process/start', { command, ...fields });
	}

	/** Starts one and waits for its end; resolves with what is shown of it. */
	async finish(command, fields) {
		const { processId } = await this.start(command, fields);
		return this.ended(processId);
	}

	get(id) {
		return this.api.call('GET', `/api/process/${id}`).then((json) => json.process);
	}

	list(query = '') {
		return this.api.call('GET', `/api/process/list${query}`).then((json) => json.processes);
	}

	logs(id) {
		return this.api.call('GET', `/api/process/${id}/logs`);
	}

	output(id, query = '') {
		return this.api.call('GET', `/api/process/${id}/output?${query}`);
	}

	input(id, body) {
		return this.api.call('POST', `/api/process/${id}/input`, body);
	}

	wait(id, body) {
		return this.api.call('POST', `/api/process/${id}/wait`, body, { timeout: 60_000 });
	}

	kill(id, query = '') {
		return this.api.call('DELETE', `/api/process/${id}${query}`);
	}

	remove(id) {
		return this.kill(id, '?remove=true&graceMs=0');
	}

	async ended(id) {
		await this.wait(id, { for: 'exit' });
		return this.get(id);
	}

	/** Waits until stdout matches. */
	prints(id, pattern) {
		return until(`${pattern} on standard output`,
			async () => pattern.exec((await this.logs(id)).stdout));
	}

	stream(id, query = '') {
		return new EventStream(this.server, `/api/process/${id}/stream${query}`);
	}

	/** Everything that a stream has brought of stdout and stderr. */
	static joined(events, type) {
		return events.filter((event) => event.type === type).map((event) => event.data).join('');
	}
}
