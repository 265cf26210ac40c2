// The repository's Markdown as pages; links between its files lead to their pages, others to the repository.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { Marked } from "marked";
import { root } from "../sources.mjs";
import { escapeHtml, idOf, wayTo, wide } from "./html.mjs";

const repository = JSON.parse(readFileSync(join(root, "bin/package.json"), "utf8"))
  .repository.url.replace(/^git\+/, "")
  .replace(/\.git$/, "");

const top = {
  "README.md": "index",
  "ARCHITECTURE.md": "architecture",
  "CONTRIBUTING.md": "contributing",
  "DEPENDENCIES.md": "dependencies",
  "DIFFERENCES.md": "differences",
};

const markdownOf = (folder) => readdirSync(join(root, folder)).filter((name) => name.endsWith(".md"));

/** Every Markdown file of the site, with the address of its page. */
export function pagePaths() {
  const paths = new Map();
  for (const [file, name] of Object.entries(top))
    paths.set(file, { address: `${name}.html`, group: "Anulo" });
  for (const file of markdownOf("docs"))
    paths.set(`docs/${file}`, { address: `docs/${file.replace(/\.md$/, ".html")}`, group: "Guides" });
  for (const name of readdirSync(join(root, "packages")))
    if (existsSync(join(root, "packages", name, "README.md")))
      paths.set(`packages/${name}/README.md`, { address: `packages/${name}.html`, group: "Packages" });
  for (const file of markdownOf("docs/api"))
    paths.set(`docs/api/${file}`, {
      address: `api/${file.replace(/\.api\.md$/, ".html")}`,
      group: "Exports",
    });
  return paths;
}

/** The address that a link in a file leads to, from its page. */
function targetOf(href, file, paths) {
  if (/^[a-z]+:/.test(href) || href.startsWith("#")) return href;
  const [path, hash] = href.split("#");
  const target = normalize(join(dirname(file), path)).replace(/\/$/, "");
  const page = paths.get(target) ?? paths.get(`${target}/README.md`);
  const suffix = hash === undefined ? "" : `#${hash}`;
  if (page !== undefined) return wayTo(paths.get(file).address, page.address) + suffix;
  const stats = statSync(join(root, target), { throwIfNoEntry: false });
  if (stats === undefined) throw new Error(`${file} links to ${href}, which does not exist`);
  return `${repository}/${stats.isDirectory() ? "tree" : "blob"}/main/${target}${suffix}`;
}

/** Returns the function that makes a page of a file. */
export function createRenderer(paths) {
  return (file, text) => {
    const used = new Map();
    const sections = [];
    const plainOf = (tokens) =>
      tokens.map((token) => (token.tokens ? plainOf(token.tokens) : (token.text ?? ""))).join("");
    const renderer = {
      heading({ tokens, depth }) {
        const heading = plainOf(tokens);
        const id = idOf(heading, used);
        sections.push({ id: depth === 1 ? "" : id, heading, text: "" });
        return `<h${depth} id="${escapeHtml(id)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        return `<a href="${escapeHtml(targetOf(href, file, paths))}">${this.parser.parseInline(tokens)}</a>`;
      },
      image({ href, text: alt }) {
        return `<a href="${escapeHtml(targetOf(href, file, paths))}">${escapeHtml(alt)}</a>`;
      },
      code({ text: code }) {
        return `<pre tabindex="0"><code>${escapeHtml(code)}</code></pre>\n`;
      },
      tablecell({ tokens, header }) {
        const html = this.parser.parseInline(tokens);
        return header && html !== "" ? `<th>${html}</th>` : `<td>${html}</td>`;
      },
      checkbox: ({ checked }) => `<strong>${checked ? "Done" : "Open"}:</strong> `,
      html: () => "",
    };
    const marked = new Marked({ gfm: true, renderer });
    const tokens = marked.lexer(text);
    let html = "";
    let tables = 0;
    for (const token of tokens) {
      const tokenHtml = marked.parser([token]);
      const section = sections.at(-1);
      if (token.type === "heading") html += tokenHtml;
      else {
        if (section !== undefined) section.text += ` ${token.raw}`;
        if (token.type !== "table") html += tokenHtml;
        else {
          tables++;
          html += wide(`Table ${tables}: ${section?.heading ?? file}`, tokenHtml);
        }
      }
    }
    return { title: sections[0]?.heading ?? file, sections, html };
  };
}
