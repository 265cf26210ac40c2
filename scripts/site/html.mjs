// Text as HTML.

/** Escapes text for elements and quoted attributes. */
export const escapeHtml = (text) =>
  String(text).replace(
    /[&<>"]/g,
    (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign],
  );

/** The id of a heading, as the places where repositories are read make it; `used` holds those of the page so far. */
export function idOf(heading, used) {
  const plain = heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");
  const count = used.get(plain) ?? 0;
  used.set(plain, count + 1);
  return count === 0 ? plain : `${plain}-${count}`;
}

/** A table that scrolls by itself where it is wider than the page. */
export const wide = (label, table) =>
  `<div class="wide" role="region" tabindex="0" aria-label="${escapeHtml(label)}">${table}</div>`;

/** Code with the spans between backticks of a description as code. */
export const withCode = (text) => escapeHtml(text).replace(/`([^`]*)`/g, "<code>$1</code>");

/** The way from one page to another. */
export function wayTo(from, to) {
  const up = "../".repeat(from.split("/").length - 1);
  return `${up}${to}`;
}
