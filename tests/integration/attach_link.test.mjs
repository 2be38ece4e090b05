// `ringside attach LINK`: a link of `ringside share` opens the session, and does not leak.
import assert from 'node:assert/strict';
import { attached, cli, withScreen } from './lib/cli.mjs';
import { cert, key } from './lib/certificate.mjs';
import { cmdline, processesNaming } from './lib/proc.mjs';
import { shared } from './lib/together.mjs';
import { until } from './lib/until.mjs';

const share = async (server, ...options) => (await cli(server, ['share', ...options])).stdout.trim();

shared("a link of a driver, one of a viewer, and the owner's address", async (server) => {
	await server.session({ id: 'other' });
	await server.session({ id: 'box' });
	await server.api.input('other', ':\r');
	const drive = await share(server, '--drive', 'box'), watch = await share(server, 'box');
	assert.match(drive, /^http:\/\/[^?#]+\/#link=/);
	await withScreen(server, { cols: 100, rows: 20, env: { RINGSIDE_TOKEN: 'nonsense', DRIVE: drive, WATCH: watch } }, async (screen) => {
		await screen.line('clear; ringside attach "$DRIVE"; echo status=$?');
		await attached(server, 'box');
		const secret = drive.split('=')[1];
		const client = await until('the client', () => processesNaming('ringside').find((pid) => /attach.http.*##/s.test(cmdline(pid))));
		assert.ok(!cmdline(client).includes(secret), 'the link is visible in the process list');
		await screen.line('echo here=$RINGSIDE_SESSION');
		await screen.shows(/^here=box$/m);
		await screen.detach();
		await screen.line('clear; ringside attach "$WATCH"; echo status=$?');
		await attached(server, 'box');
		await screen.shows(/^here=box$/m);
		await screen.line('echo not""typed');
		await screen.detach();
		assert.doesNotMatch(await server.run('box', 'fc -l | cat'), /not""typed/);
		assert.match(await (await fetch(`${server.base}/metrics`, { headers: { Authorization: `Bearer ${server.token}` } })).text(), /^ringside_viewer_input_refused\w* 0$/m, 'the input of a viewer is not even sent');
		await screen.line(`clear; ringside attach '${server.base}/?s=other#token=${server.token}'; echo status=$?`);
		await attached(server, 'other');
		await screen.detach();
		// Links end with their session.
		await cli(server, ['kill', 'box']);
		await screen.line('clear; ringside attach "$DRIVE"; echo status=$?');
		await screen.shows(/^status=[1-9]/m);
		assert.ok(!(await screen.text()).includes(secret));
		assert.ok(!server.stderr.includes(secret), 'the link is in the log');
	});
});

shared('invalid links, and two links', async (server) => {
	for (const [args, says] of [
		[[`${server.base}/#link=`], /a link is an address/],
		[[`${server.base}/?link=hidden`], /a link is an address/],
		[['--url', server.base, `${server.base}/#link=hidden`], /cannot be used with a link/],
		[['http://user:hidden@localhost:7070/#link=hidden'], /http:\/\/\*\*\*@localhost:7070\/: an address has a host and a port/],
		[['http://user:hi@den:hidden@localhost:7070'], /a link is an address/],
		[['http://:hidden@/#link=hidden'], /http:\/\/\*\*\*@\/ names no host/],
	]) {
		const { code, stderr } = await cli(server, ['attach', ...args]);
		assert.equal(code, 2, stderr);
		assert.match(stderr, says);
		assert.doesNotMatch(stderr, /hidden/);
	}
	const { code, stderr } = await cli(server, ['attach', `${server.base}/#link=hidden`]);
	assert.equal(code, 125, stderr);
	assert.doesNotMatch(stderr + server.stderr, /hidden/);
});

shared('TLS is verified before anything is sent', async (server) => {
	await server.session({ id: 'box' });
	await server.kill('SIGTERM');
	await server.start({ args: ['--tls-cert', cert, '--tls-key', key] });
	const link = await share(server, '--drive', '--base', `https://localhost:${server.port}`, 'box');
	await withScreen(server, { cols: 100, rows: 20, env: { LINK: link } }, async (screen) => {
		await screen.line(`clear; SSL_CERT_FILE=/dev/null ringside attach "$LINK"; echo status=$?`);
		await screen.shows(/certificate is not trusted\nstatus=69/);
		await screen.line(`clear; SSL_CERT_FILE=${cert} ringside attach "$LINK"; echo status=$?`);
		await screen.line('echo he""re');
		await screen.shows(/^here$/m);
		await screen.detach();
	});
	await server.kill('SIGTERM');
	await server.start({ args: [] });
});
