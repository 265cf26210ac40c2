// What all pages have in common: head, navigation, search.
import { escapeHtml, wayTo } from "./html.mjs";

/** Nothing from elsewhere, nothing inline. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const groups = ["Anulo", "Guides", "Calls of the node", "Calls of the wallet service", "Packages", "Exports"];

const shortTitle = ({ title, group }) => (group.startsWith("Calls") ? title.replace(/^.*?: /, "") : title);

function navigation(page, pages) {
  const lists = groups.map((group) => {
    const links = pages
      .filter((each) => each.group === group)
      .map((each) => {
        const here = each === page ? ' aria-current="page"' : "";
        return `<li><a href="${wayTo(page.address, each.address)}"${here}>${escapeHtml(shortTitle(each))}</a></li>`;
      });
    const isOpen = page.group === group ? " open" : "";
    return `<details${isOpen}><summary>${group}</summary><ul>${links.join("")}</ul></details>`;
  });
  return `<nav aria-label="Pages">${lists.join("")}</nav>`;
}

/** A whole page. */
export function layOut(page, pages) {
  const way = (file) => wayTo(page.address, file);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${escapeHtml(page.title)}${page.title === "Anulo" ? "" : " – Anulo"}</title>
<link rel="icon" href="${way("icon.svg")}" type="image/svg+xml">
<link rel="stylesheet" href="${way("site.css")}">
<script src="${way("site.js")}" defer></script>
</head>
<body data-root="${way("")}" data-index="${way("search-index.js")}">
<a class="skip" href="#content">Skip to content</a>
<header>
<p class="brand"><a href="${way("index.html")}">Anulo</a></p>
<search><label>Search <input id="search" type="search" autocomplete="off" spellcheck="false"></label></search>
<button type="button" id="theme">Colours: system</button>
<div id="found" role="status"></div>
</header>
<div class="columns">
${navigation(page, pages)}
<main id="content" tabindex="-1">
${page.html}
</main>
</div>
</body>
</html>
`;
}
