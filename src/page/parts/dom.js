// Data → elements that are updated in place, so that focus, selection and scroll position stay.
// Foreign text is inserted as text, never as markup, with its control characters made visible.
import { visible } from './text.js';

export const $ = (id) => document.getElementById(id);

/** @param children elements or texts */
export function el(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.map((child) => (typeof child === 'string' ? visible(child) : child)));
  return element;
}

export function setText(element, text) {
  const shown = visible(text);
  if (element.textContent !== shown) element.textContent = shown;
}

/** Sets the name for screen readers, and the tooltip. */
export function setName(element, name) {
  const shown = visible(name);
  if (element.title === shown) return;
  element.title = shown;
  element.setAttribute('aria-label', shown);
}

/** A text only for screen readers. */
export const hidden = (text = '') => el('span', { className: 'vh' }, text);

/**
 * Updates the children of `parent` to match `items`, by key and in order. Children that stay are updated, and moved only if their order changes.
 * If a removed child has the focus, `heir` gets it.
 */
export function sync(parent, items, keyOf, make, update, heir) {
  const before = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  const keys = new Set(items.map(keyOf));
  for (const [key, child] of before) {
    if (keys.has(key)) continue;
    if (heir && child.contains(document.activeElement)) heir.focus();
    child.remove();
  }
  let next = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    let child = before.get(key);
    if (!child) {
      child = make(item);
      child.dataset.key = key;
    }
    if (child === next) next = next.nextElementSibling;
    else parent.insertBefore(child, next);
    update(child, item);
  }
}

/** Opens a dialog and calls `run` if the button with this value closes it. The focus then returns to its previous element. */
export function onClose(dialog, value, run) {
  dialog.returnValue = '';
  dialog.onclose = () => dialog.returnValue === value && run();
  dialog.showModal();
}
