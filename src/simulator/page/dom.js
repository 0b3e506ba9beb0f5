// Data → elements changed in place, so that focus, selection and a reader's place stay.
// Foreign text becomes text, never markup.

export const $ = (id) => document.getElementById(id);

export function el(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
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
