// Typed commands as blocks.
import { until } from './until.mjs';

export const blocksOf = async (server, id) => (await server.api.call('GET', `/api/session/${id}/blocks?limit=1000`)).blocks;

/** Type a line; resolves with the block when it has ended. */
export async function typeLine(server, id, line) {
	const before = (await blocksOf(server, id)).length;
	await server.api.input(id, `${line}\r`);
	return until(`the end of ${line}`, async () => {
		const all = await blocksOf(server, id);
		return all.length > before && all.at(-1).state === 'done' && all.at(-1).cwdAfter && all.at(-1);
	});
}
