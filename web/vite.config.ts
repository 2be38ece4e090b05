import { defineConfig, type Plugin } from 'vite';

/*
 * Holds the first paint until the script has chosen the theme. Without it a dark page can flash
 * white when the reader's choice differs from the system's. Browsers that do not know the
 * attribute ignore it.
 */
function paintAfterScript(): Plugin {
	return {
		name: 'ringside-paint-after-script',
		transformIndexHtml: {
			order: 'post',
			handler: (html) =>
				html.replace('<script type="module"', '<script type="module" blocking="render"'),
		},
	};
}

export default defineConfig({
	// Relative addresses: the page also works below a path, behind somebody's reverse proxy.
	base: './',
	plugins: [paintAfterScript()],
	build: {
		target: ['es2022', 'chrome105', 'firefox110', 'safari16.4'],
		// The security policy has no room for data: scripts or styles, and the server caches files well.
		assetsInlineLimit: 0,
		modulePreload: { polyfill: false },
		chunkSizeWarningLimit: 900,
	},
});
