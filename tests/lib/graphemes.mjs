/* The page's addon for grapheme clusters, loaded as in a browser. */
import { createRequire } from 'node:module';

/** The addon's class. With a Buffer it would decode its tables into Buffer's shared pool and read garbage from it. */
export function graphemesAddon() {
	const { Buffer } = globalThis;
	globalThis.Buffer = undefined;
	try {
		return createRequire(new URL('../../web/package.json', import.meta.url))('@xterm/addon-unicode-graphemes').UnicodeGraphemesAddon;
	} finally {
		globalThis.Buffer = Buffer;
	}
}

export const GRAPHEMES = '15-graphemes'; // the addon's name for it

/** The addon's provider, without a terminal. */
export function graphemesProvider() {
	const providers = new Map();
	new (graphemesAddon())().activate({ unicode: { register: (provider) => providers.set(provider.version, provider) } });
	return providers.get(GRAPHEMES);
}

/** Follow mode 2027 and resets, as web/src/term/clusters.ts does. */
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
