// `ringside attach` on terminals with fewer features than xterm: every byte that reaches them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { attached, withScreen } from './lib/cli.mjs';
import { scenario } from './lib/server.mjs';
import { until } from './lib/until.mjs';

/** All bytes that a terminal of this type gets, from attach to detach; `red` is how it writes red. */
async function bytesFor(server, screen, term, red) {
	const place = path.join(server.root, `${term}.bytes`);
	await screen.tmux('pipe-pane', '-O', `cat > ${place}`);
	await screen.line(`clear; echo begin''ning; TERM=${term} ringside attach box; echo status=$?`);
	await attached(server, 'box');
	await screen.line(`clear; printf '\\033[38;2;250;0;0mr%s\\033[m \\033]0;title\\a\\033[>4;2m\\033[4:3mcurl\\033[m\\n' ed-${term}`);
	await screen.shows(new RegExp(`^red-${term} curl$`, 'm'));
	await screen.line(`printf '\\033[?1049h\\033[HF%s' ull-${term}; read -r; printf '\\033[?1049l\\033[2JB%s\\n' ack-${term}`);
	await screen.shows(new RegExp(`Full-${term}`));
	await screen.type('', 'Enter');
	await screen.shows(new RegExp(`Back-${term}`));
	// The size changes, so it is drawn from a snapshot too.
	await screen.tmux('resize-window', '-x', '81');
	await until('the new size', async () => (await server.api.get('box')).cols === 81);
	await screen.shows(new RegExp(`Back-${term}`));
	await screen.tmux('resize-window', '-x', '80');
	await screen.type('', 'C-\\');
	await screen.shows(/status=0/);
	await screen.tmux('pipe-pane');
	const bytes = await until('all its bytes', () => {
		const text = readFileSync(place, 'latin1');
		return /beginning\r\n([^]*?)status=0/.exec(text)?.[1];
	});
	assert.ok(bytes.includes(`${red}red-${term}`), JSON.stringify(bytes.slice(0, 3000)));
	return bytes;
}

const STRANGE = /\x1b\][^]|\x1bP|\x1b\[[<=>]|\x1b\[[\d;?]*[ -/:]/;

scenario('each gets its nearest colours, and nothing that it would print as text', { timeout: 120_000 }, async (server) => {
	await server.session({ id: 'box' });
	await withScreen(server, {}, async (screen) => {
		for (const [term, red, strange, other] of [
			['linux', '\x1b[1;31m', STRANGE, /\x1b\[\?(1049|1047|47)[hl]|\x1b[*+]/],
			['dumb', '', /\x1b/, /[\x0e\x0f]/],
			['screen-256color', '\x1b[38;5;196m', /\x1b\](?![012];)|\x1b\[[<=>]/, /\x1b\[[\d;]*[34]8;2;/],
		]) {
			const bytes = await bytesFor(server, screen, term, red);
			for (const pattern of [strange, other]) {
				const found = pattern.exec(bytes);
				assert.equal(found, null, `${term}: ${JSON.stringify(found?.[0])} at ${JSON.stringify(bytes.slice(Math.max(0, found?.index - 100), found?.index + 50))}`);
			}
		}
		const all = await bytesFor(server, screen, 'xterm-256color', '\x1b[38;2;250;0;0m');
		assert.match(all, STRANGE, 'a full terminal gets everything');
	});
});
