import { h } from './dom';
import { icon } from './icons';

export interface DialogOptions {
	readonly title: string;
	readonly body: readonly (Node | string)[];
	/** Buttons at the bottom; the last one is the default. */
	readonly actions?: readonly HTMLButtonElement[];
	/** Called by Enter or the submit button. */
	submit?(): void | Promise<void>;
	closed?(): void;
	readonly testId?: string;
}

/**
 * Open a modal dialog. The browser keeps the focus inside, closes it on Esc, and then restores the focus.
 */
export function openDialog(options: DialogOptions): HTMLDialogElement {
	const close = h('button', {
		type: 'button', class: 'icon-button', 'aria-label': 'Close', click: () => dialog.close(),
	}, icon('close'));
	const form = h('form', {
		submit: (event: SubmitEvent) => {
			event.preventDefault();
			void options.submit?.();
		},
	}, h('header', {}, h('h2', { id: 'dialog-title' }, options.title), close),
	h('div', { class: 'dialog-body' }, ...options.body),
	options.actions !== undefined && h('footer', {}, ...options.actions));
	const dialog = h('dialog', {
		'aria-labelledby': 'dialog-title', 'data-testid': options.testId,
		close: () => {
			dialog.remove();
			options.closed?.();
		},
		// A press outside of the form closes the dialog. A selection that only ends there does not.
		pointerdown: (event: PointerEvent) => {
			if (event.target === dialog)
				dialog.close();
		},
	}, form);
	document.body.append(dialog);
	dialog.showModal();
	return dialog;
}

export interface ConfirmOptions {
	readonly title: string;
	readonly text: string;
	readonly action: string;
	/** The action destroys something, so Enter cancels. */
	readonly danger?: boolean;
}

/** Resolves to true if the user confirms. */
export function confirmDialog(options: ConfirmOptions): Promise<boolean> {
	return new Promise((resolve) => {
		let answer = false;
		const dialog = openDialog({
			title: options.title,
			body: [h('p', {}, options.text)],
			actions: [
				h('button', { type: 'button', class: 'button', autofocus: options.danger, click: () => dialog.close() }, 'Cancel'),
				h('button', {
					type: 'submit', class: options.danger ? 'button danger' : 'button primary',
					autofocus: !options.danger, 'data-testid': 'confirm',
				}, options.action),
			],
			submit: () => {
				answer = true;
				dialog.close();
			},
			closed: () => resolve(answer),
		});
	});
}

export interface Field {
	readonly label: string;
	readonly value?: string;
	readonly placeholder?: string;
	readonly hint?: string;
	readonly required?: boolean;
	readonly mono?: boolean;
	readonly testId?: string;
	readonly maxLength?: number;
}

export function textField(field: Field): { row: HTMLElement; input: HTMLInputElement } {
	const input = h('input', {
		type: 'text', value: field.value, placeholder: field.placeholder, required: field.required,
		maxlength: field.maxLength ?? 128, autocomplete: 'off', spellcheck: 'false', autocapitalize: 'off',
		class: field.mono ? 'mono' : null, 'data-testid': field.testId,
	});
	const row = h('label', { class: 'field' }, h('span', {}, field.label), input,
		field.hint !== undefined && h('small', {}, field.hint));
	return { row, input };
}

/**
 * A form of text fields. save: if it rejects, the error is shown and the dialog stays open. done: called after the dialog
 * has closed.
 */
export function formDialog(options: {
	readonly title: string; readonly fields: readonly Field[]; readonly action: string;
	save(values: readonly string[]): Promise<void>;
	done?(): unknown;
}): void {
	const fields = options.fields.map(textField);
	const problem = h('p', { class: 'problem', role: 'alert' });
	const dialog = openDialog({
		title: options.title,
		body: [...fields.map((field) => field.row), problem],
		actions: [
			h('button', { type: 'button', class: 'button', click: () => dialog.close() }, 'Cancel'),
			h('button', { type: 'submit', class: 'button primary', 'data-testid': 'confirm' },
				options.action),
		],
		submit: async () => {
			try {
				await options.save(fields.map((field) => field.input.value.trim()));
				dialog.close();
				options.done?.();
			} catch (error) {
				problem.textContent = error instanceof Error ? error.message : String(error);
			}
		},
	});
	fields[0]?.input.select();
}

/** Ask for text of any number of lines. Resolves to null if it is cancelled or empty. */
export function textDialog(options: {
	readonly title: string; readonly label: string; readonly hint: string; readonly action: string;
}): Promise<string | null> {
	return new Promise((resolve) => {
		let answer: string | null = null;
		const area = h('textarea', {
			rows: 6, class: 'mono', autocomplete: 'off', spellcheck: 'false', autocapitalize: 'off', autofocus: true,
			'data-testid': 'text',
		});
		const dialog = openDialog({
			title: options.title,
			body: [h('label', { class: 'field' }, h('span', {}, options.label), area, h('small', {}, options.hint))],
			actions: [
				h('button', { type: 'button', class: 'button', click: () => dialog.close() }, 'Cancel'),
				h('button', { type: 'submit', class: 'button primary', 'data-testid': 'confirm' }, options.action),
			],
			submit: () => {
				answer = area.value === '' ? null : area.value;
				dialog.close();
			},
			closed: () => resolve(answer),
		});
	});
}
