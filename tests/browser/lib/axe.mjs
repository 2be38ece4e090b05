// Runs axe-core on a page.
import { createRequire } from 'node:module';

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const RULES = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] };
/** The rules among them whose result depends on colours: enough if the same page has been checked in other colours. */
export const COLOUR_RULES = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

/** All findings on the page except those inside xterm.js. The page's context needs bypassCSP. */
export async function findings(page, rules = RULES) {
	if (await page.evaluate(() => !window.axe)) await page.addScriptTag({ path: axe });
	return page.evaluate(async (runOnly) => {
		const { violations } = await window.axe.run({ exclude: [['.xterm']] }, { runOnly, resultTypes: ['violations'] });
		return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, any }) => `${html.slice(0, 160)} ${any.map(({ message }) => message).join('; ')}`).join('\n  ')}`);
	}, rules);
}
