// Writes the documentation site into dist/site: the pages of the repository, and every call of both services from
// their declarations. Static files: any web server can serve them, and nothing is loaded from elsewhere.
// `npm run site -- FOLDER` writes it elsewhere. Needs a build.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { layOut } from "./site/layout.mjs";
import { createRenderer, pagePaths } from "./site/markdown.mjs";
import { referencePages } from "./site/reference.mjs";
import { root } from "./sources.mjs";

const styleFiles = ["packages/console/page/colours.css", "scripts/site/site.css"];
const assets = ["scripts/site/site.js", "packages/console/page/icon.svg"];

/** Pages with their addresses, titles, contents and sections, before they are laid out. */
async function allPages() {
  const paths = pagePaths();
  const reference = await referencePages();
  const render = createRenderer(paths);
  const documents = [...paths].map(([file, { address, group }]) => ({
    address,
    group,
    ...render(file, readFileSync(join(root, file), "utf8")),
  }));
  return [...documents, ...reference];
}

/** What the search looks through: a section each, its address, title and words. */
function indexOf(pages) {
  return pages.flatMap(({ address, title, sections }) =>
    sections.map(({ id, heading, text }) => [
      id === "" ? address : `${address}#${id}`,
      heading === title ? title : `${heading} – ${title}`,
      text.replace(/\s+/g, " ").slice(0, 1500),
    ]),
  );
}

/** Writes the site into a folder, which is made anew. Returns its pages. */
export async function makeSite(folder) {
  const pages = await allPages();
  rmSync(folder, { recursive: true, force: true });
  for (const page of pages) {
    const file = join(folder, page.address);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, layOut(page, pages));
  }
  writeFileSync(
    join(folder, "site.css"),
    styleFiles.map((file) => readFileSync(join(root, file), "utf8")).join("\n"),
  );
  for (const file of assets) cpSync(join(root, file), join(folder, basename(file)));
  writeFileSync(join(folder, "search-index.js"), `self.searchIndex = ${JSON.stringify(indexOf(pages))};\n`);
  return pages;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const folder = process.argv[2] ?? join(root, "dist/site");
  const pages = await makeSite(folder);
  console.log(`site: ${pages.length} pages in ${folder}`);
}
