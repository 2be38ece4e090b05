// What a program must not know: a person types it in the browser, by a link that an agent passes on.
import assert from 'node:assert/strict';
import { asUser, startAs } from './lib/other_user.mjs';
import { readText, scenario } from './lib/server.mjs';
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

const secret = 'a-token-that-nobody-may-read-0123456789';

scenario('the token of the environment is wiped from it', { env: { RINGSIDE_TOKEN: secret } }, async (server) => {
	assert.equal(server.token, secret);
	assert.ok(!readText(`/proc/${server.pid}/environ`).includes(secret));
	assert.match(readText(`/proc/${server.pid}/environ`), /HOME=/, 'and no more than that');
	assert.match(readText(`/proc/${server.pid}/limits`), /^Max core file size +0 /m);
});

const uid = 54_322;
const other = asUser(uid);

scenario('a program in a session cannot look into the server', {
	skip: process.getuid() !== 0 && 'needs another user', start: false, prefix: other,
}, async (server) => {
	if (!await startAs(server, uid)) return;
	await server.session({ id });
	const { pid } = server;
	const look = `for f in environ mem maps fd/0 io; do (exec 3<"/proc/${pid}/$f") 2>/dev/null && echo "$f can be opened"; done; id -u`;
	assert.equal((await server.api.call('POST', '/api/run', { command: look })).stdout, `${uid}\n`);
	assert.equal((await server.run(id, 'echo works; ulimit -Sc')).trim().split(/\s+/).join(' '), 'works 0');
});
