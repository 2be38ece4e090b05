import { h } from './dom';
import { icon, type IconName } from './icons';

export function iconButton(label: string, name: IconName, click: () => void): HTMLButtonElement {
	return h('button', { type: 'button', class: 'icon-button', 'aria-label': label, title: label, click }, icon(name));
}
