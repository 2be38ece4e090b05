/* The page's addon for clusters, as a browser loads it. */
import { createRequire } from 'node:module';

/** Its class. The addon would decode its tables with a Buffer, take what that shares with others for them, and read rubbish. */
export function graphemesAddon() {
	const { Buffer } = globalThis;
	globalThis.Buffer = undefined;
	try {
		return createRequire(new URL('../../web/package.json', import.meta.url))('@xterm/addon-unicode-graphemes').UnicodeGraphemesAddon;
	} finally {
		globalThis.Buffer = Buffer;
	}
}

export const GRAPHEMES = '15-graphemes'; // what the addon calls it

/** What it says of characters, for a terminal that there is none of. */
export function graphemesProvider() {
	const providers = new Map();
	new (graphemesAddon())().activate({ unicode: { register: (provider) => providers.set(provider.version, provider) } });
	return providers.get(GRAPHEMES);
}

/** Mode 2027, and what a reset brings back, as web/src/term/clusters.ts has it. */
export function followClusters(terminal, unicode) {
	const use = (clusters) => {
		const version = clusters ? GRAPHEMES : '11';
		if (terminal.unicode.activeVersion !== version)
			terminal.unicode.activeVersion = version;
		return false;
	};
	terminal.loadAddon(new (graphemesAddon())());
	use(unicode === 'graphemes');
	for (const [final, on] of [['h', true], ['l', false]])
		terminal.parser.registerCsiHandler({ prefix: '?', final }, (params) => params.includes(2027) && use(on));
	terminal.parser.registerEscHandler({ final: 'c' }, () => use(unicode === 'graphemes'));
}
