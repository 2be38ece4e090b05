/* Building elements without a framework. Text is always text: there is no HTML in strings. */

type Attribute = string | number | boolean | ((event: never) => void) | null | undefined;
type Child = Node | string | null | undefined | false;

/**
 * An element with attributes and children. Attributes: a function is a listener for the event of
 * that name; true is an attribute without value; false, null and undefined leave it away.
 */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K,
	attributes: Readonly<Record<string, Attribute>> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) {
		if (typeof value === 'function')
			element.addEventListener(name, value as EventListener);
		else if (value === true)
			element.setAttribute(name, '');
		else if (value !== false && value !== null && value !== undefined)
			element.setAttribute(name, String(value));
	}
	fill(element, ...children);
	return element;
}

/** Pressing a button in here with the mouse leaves the focus where it is: in the terminal. */
export function keepFocusOutside(element: HTMLElement): void {
	element.addEventListener('mousedown', (event) => {
		if (!(event.target as Element).closest('input, select'))
			event.preventDefault();
	});
}

/** Replace everything in the element. */
export function fill(element: Element, ...children: Child[]): void {
	element.replaceChildren(...children.filter((child) =>
		child !== null && child !== undefined && child !== false));
}
