// What a published package has to say about itself, and what its tarball holds.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path";
import ts from "typescript";
import { filesBelow, root } from "../sources.mjs";

const readJson = (path) => JSON.parse(readFileSync(join(root, path), "utf8"));

/** The packages that are published: all but those that say they are private. */
export function publishedPackages() {
  const manifests = filesBelow("packages", (name) => name === "package.json").concat("bin/package.json");
  return manifests
    .map((path) => ({ folder: dirname(path), manifest: readJson(path) }))
    .filter(({ manifest }) => manifest.private !== true);
}

const needed = [
  "description",
  "keywords",
  "license",
  "repository",
  "homepage",
  "bugs",
  "engines",
  "exports",
  "files",
];
const beside = ["README.md", "LICENSE", "CHANGELOG.md"];

function checkManifest({ folder, manifest }, { version, engines, repository }) {
  const problems = [];
  const complain = (text) => problems.push(`${folder}/package.json: ${text}`);
  for (const field of needed) if (manifest[field] === undefined) complain(`no ${field}`);
  for (const file of beside) if (!existsSync(join(root, folder, file))) complain(`no ${file} beside it`);
  if (manifest.version !== version) complain(`version ${manifest.version}, where the others have ${version}`);
  if (manifest.engines?.node !== engines.node) complain(`engines are ${engines.node} elsewhere`);
  if (manifest.repository?.url !== repository) complain("another repository than the others");
  if (manifest.repository?.directory !== folder) complain(`the repository's directory is ${folder}`);
  if (manifest.publishConfig?.provenance !== true) complain("publishConfig.provenance is not true");
  if (manifest.publishConfig?.access !== "public") complain("publishConfig.access is not public");
  const { dependencies, optionalDependencies, devDependencies } = manifest;
  for (const [name, range] of Object.entries({
    ...dependencies,
    ...optionalDependencies,
    ...devDependencies,
  })) {
    if (name.startsWith("@anulo/") && range !== version)
      complain(`${name} ${range} is not version ${version}`);
    if (!/^\d/.test(range)) complain(`${name} ${range} is no exact version`);
  }
  return problems;
}

/** What is wrong with the manifests, one line each. */
export function checkManifests(packages) {
  const { version, engines } = readJson("package.json");
  const repository = packages[0].manifest.repository?.url;
  const names = new Set(packages.map(({ manifest }) => manifest.name));
  const undelivered = packages.flatMap(({ folder, manifest }) =>
    Object.keys(manifest.dependencies ?? {})
      .filter((name) => name.startsWith("@anulo/") && !names.has(name))
      .map((name) => `${folder}/package.json: depends on ${name}, which is private`),
  );
  return [...packages.flatMap((it) => checkManifest(it, { version, engines, repository })), ...undelivered];
}

/** What the bundle imports and its package does not declare. */
export function checkBundle(folder = "bin") {
  const { dependencies, optionalDependencies } = readJson(`${folder}/package.json`);
  const declared = new Set(Object.keys({ ...dependencies, ...optionalDependencies }));
  const bundle = join(root, folder, "dist/bundle");
  const texts = readdirSync(bundle)
    .filter((name) => name.endsWith(".js"))
    .map((name) => readFileSync(join(bundle, name), "utf8"));
  const imported = texts.flatMap((text) =>
    ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName),
  );
  return [...new Set(imported)]
    .filter((name) => !name.startsWith(".") && !isBuiltin(name) && !declared.has(name))
    .map((name) => `${folder}/package.json: the bundle imports ${name}, which is not among its dependencies`);
}

/** Files of every tarball, and what its manifest may add. */
const ordinary =
  /^(?:package\.json|README\.md|LICENSE|CHANGELOG\.md|anulo\.js|dist\/(?:src|wasm|bundle)\/[^ ]+)$/;
const unwanted = /\.(?:map|tsbuildinfo)$|\.test\.|(?:^|\/)test\//;

/** What is wrong with a tarball, as npm describes it: what does not belong in it, what was left of earlier builds. */
export function checkTarball(packages, { name, files }) {
  const { folder } = packages.find(({ manifest }) => manifest.name === name);
  const paths = files.map(({ path }) => path);
  const strange = paths.filter((path) => !ordinary.test(path) || unwanted.test(path));
  const stale = paths.filter((path) => {
    const [, module] = /^dist\/(src\/.*?)\.(?:d\.ts|js)$/.exec(path) ?? [];
    return module !== undefined && !existsSync(join(root, folder, `${module}.ts`));
  });
  return [
    ...strange.map((path) => `${name}: ${path} does not belong in its tarball`),
    ...stale.map((path) => `${name}: ${path} has no source: build anew`),
    ...(paths.some((path) => path.startsWith("dist/")) ? [] : [`${name}: nothing built is in its tarball`]),
  ];
}
