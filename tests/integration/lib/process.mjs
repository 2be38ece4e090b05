// Processes over HTTP.
import { EventStream } from './sse.mjs';
import { until } from './until.mjs';

export class Processes {
	constructor(server) {
		this.server = server;
	}

	get api() {
		return this.server.api;
	}

	/** Start a process; resolves with the response. */
	start(command, fields = {}) {
		return this.api.call('POST', '/api/process/start', { command, ...fields });
	}

	/** Start a process and wait for its end; resolves with its final state. */
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

	/** Wait until stdout matches. */
	prints(id, pattern) {
		return until(`${pattern} on standard output`,
			async () => pattern.exec((await this.logs(id)).stdout));
	}

	stream(id, query = '') {
		return new EventStream(this.server, `/api/process/${id}/stream${query}`);
	}

	/** The stdout or stderr of a stream. */
	static joined(events, type) {
		return events.filter((event) => event.type === type).map((event) => event.data).join('');
	}
}
