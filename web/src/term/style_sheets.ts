/*
 * xterm.js puts <style> elements into the page. A security policy without 'unsafe-inline' forbids
 * those, but not style sheets made by script. So that the strict policy can be sent, a <style>
 * element asked for through this document is a stand-in whose text becomes such a sheet.
 *
 * Only xterm.js makes <style> elements here; it sets their textContent, and removes them.
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
