/* What the page adds to xterm.js, for a terminal in Node: widths of characters, cells of images. */
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const { outputFiles: [bundle] } = buildSync({
	stdin: {
		contents: "export { Clusters } from './clusters'; export { graphemes, wcwidth } from './unicode'; export { ImageCells } from '../images/image_cells';",
		resolveDir: fileURLToPath(new URL('../../web/src/term', import.meta.url)),
	},
	bundle: true, format: 'esm', write: false,
});
const { Clusters, graphemes, ImageCells, wcwidth } = await import(`data:text/javascript;base64,${Buffer.from(bundle.contents).toString('base64')}`);
export { graphemes, ImageCells, wcwidth };

/** Count columns as the page does in a session with this `unicode`: wcwidth or graphemes. */
export function useUnicode(terminal, unicode) {
	terminal.unicode.register(wcwidth);
	terminal.unicode.register(graphemes);
	terminal.unicode.activeVersion = unicode;
	new Clusters(terminal).setSession(unicode);
}
