import { defineConfig, type Plugin } from 'vite';

/*
 * Delays the first paint until the script has chosen the theme. Otherwise a dark page can flash white if the user's theme
 * differs from the system's. Browsers without support ignore the attribute.
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
	// Relative addresses, so that the page also works below a path of a reverse proxy.
	base: './',
	plugins: [paintAfterScript()],
	build: {
		target: ['es2022', 'chrome105', 'firefox110', 'safari16.4'],
		// The security policy forbids data: scripts and styles, and the server caches files well.
		assetsInlineLimit: 0,
		modulePreload: { polyfill: false },
		chunkSizeWarningLimit: 900,
	},
});
