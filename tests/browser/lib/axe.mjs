// Runs axe-core on a page.
import { createRequire } from 'node:module';

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'];

/** All findings on the page except those inside xterm.js. The page's context needs bypassCSP. */
export async function findings(page) {
	if (await page.evaluate(() => !window.axe)) await page.addScriptTag({ path: axe });
	return page.evaluate(async (values) => {
		const { violations } = await window.axe.run({ exclude: [['.xterm']] }, { runOnly: { type: 'tag', values } });
		return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, any }) => `${html.slice(0, 160)} ${any.map(({ message }) => message).join('; ')}`).join('\n  ')}`);
	}, RULES);
}
