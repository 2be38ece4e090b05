// What a program must not know: a person types it in the browser, by a link that an agent passes on.
import assert from 'node:assert/strict';
import { scenario } from './lib/server.mjs';
import { until } from './lib/until.mjs';

const id = 's';

scenario('a link for a person to type a secret', async (server) => {
	const { api } = server;
	await server.session({ id });
	const state = async (as = api) => (await as.call('GET', `/api/session/${id}/state`)).state;
	assert.equal((await state()).humanUrl, undefined);
	await api.input(id, 'read -s word; echo "${#word} characters"\r');
	const { state: asked } = await api.call('POST', `/api/session/${id}/wait`, { until: [{ type: 'input', kind: 'password' }], timeoutMs: 15_000 });
	assert.equal(asked.input, 'password');
	const [address, token] = asked.humanUrl.split('#link=');
	assert.equal(address, `${server.base}/`);
	assert.equal((await state()).humanUrl, asked.humanUrl, 'the same link again');
	const person = await server.client({ sessionId: id, token });
	await person.connect();
	assert.equal((await state(api.as(token))).humanUrl, undefined, 'only owners give links away');
	person.type('hunter2\r');
	await until('the end', async () => (await state()).status === 'prompt');
	assert.match((await api.output(id)).toString(), /7 characters/);
	assert.doesNotMatch((await api.output(id)).toString(), /hunter2/);
	assert.doesNotMatch(JSON.stringify(await api.call('GET', `/api/session/${id}/typed`)), /hunter2/);
	assert.doesNotMatch(JSON.stringify(await api.call('GET', `/api/session/${id}/blocks`)), /hunter2/);
	assert.equal((await state()).humanUrl, undefined);
	await person.close();
});
