/* Creates elements without a framework. Strings are always text, never HTML. */

type Attribute = string | number | boolean | ((event: never) => void) | null | undefined;
type Child = Node | string | null | undefined | false;

/**
 * Create an element. In attributes, a function is a listener for the event of that name, true is an attribute without a
 * value, and false, null and undefined omit the attribute.
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

/** Mouse clicks in the element do not move the focus out of the terminal. */
export function keepFocusOutside(element: HTMLElement): void {
	element.addEventListener('mousedown', (event) => {
		if (!(event.target as Element).closest('input, select'))
			event.preventDefault();
	});
}

/** Replace all children. */
export function fill(element: Element, ...children: Child[]): void {
	element.replaceChildren(...children.filter((child) =>
		child !== null && child !== undefined && child !== false));
}
