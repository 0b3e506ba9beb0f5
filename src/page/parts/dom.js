// Data → elements changed in place, so that focus, selection and a reader's place stay.
// Foreign text becomes text, never markup, and what would hide or turn it becomes visible.
import { visible } from './text.js';

export const $ = (id) => document.getElementById(id);

/** @param children elements, and texts */
export function el(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.map((child) => (typeof child === 'string' ? visible(child) : child)));
  return element;
}

export function setText(element, text) {
  const shown = visible(text);
  if (element.textContent !== shown) element.textContent = shown;
}

/** What a screen reader calls it, and what a pointer sees that rests on it. */
export function setName(element, name) {
  const shown = visible(name);
  if (element.title === shown) return;
  element.title = shown;
  element.setAttribute('aria-label', shown);
}

/** For screen readers alone. */
export const hidden = (text = '') => el('span', { className: 'vh' }, text);

/**
 * Makes the children of `parent` those of `items`, by key and in order. A child that stays is updated, and never moved while the order stays.
 * Focus within a child that goes passes to `heir`.
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

/** Opens a dialog; calls `run` when it closes by the button of this value. Its focus goes back to where it was. */
export function onClose(dialog, value, run) {
  dialog.returnValue = '';
  dialog.onclose = () => dialog.returnValue === value && run();
  dialog.showModal();
}
