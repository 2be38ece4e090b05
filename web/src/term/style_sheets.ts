/*
 * Lets xterm.js work under a security policy without 'unsafe-inline', which forbids <style> elements but not style sheets
 * made by scripts. createElement('style') returns a stand-in whose text becomes such a sheet. Only xterm.js creates <style>
 * elements here; it sets their textContent and removes them.
 */
function standIn(document: Document): HTMLElement {
	const sheet = new CSSStyleSheet();
	const element = document.createElement('template');
	document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
	Object.defineProperty(element, 'textContent', {
		set: (text: string) => sheet.replaceSync(text),
	});
	element.remove = () => {
		document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet);
		Element.prototype.remove.call(element);
	};
	return element;
}

export function adoptStyleElements(document: Document): void {
	const create = document.createElement.bind(document);
	document.createElement = ((name: string, options?: ElementCreationOptions) =>
		name === 'style' ? standIn(document) : create(name, options)) as typeof document.createElement;
}
