// Checks who imports whom: the direction between packages, who may touch files, sockets, the database and
// WebAssembly, undeclared dependencies, cycles between files, and the floors of a package. `--graph` prints the packages' graph (mermaid).
import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, normalize } from "node:path";
import ts from "typescript";
import { filesBelow, root } from "./sources.mjs";

const everything = [
  "limits",
  "metrics",
  "crypto",
  "protocol",
  "socks",
  "consensus",
  "storage",
  "store",
  "events",
  "rpc",
  "p2p",
  "node",
  "wallet",
  "client",
  "devnet",
  "console",
];

/** What the sources of a package may import from the others. */
const allowed = {
  limits: [],
  metrics: [],
  crypto: [],
  protocol: ["crypto"],
  socks: [],
  consensus: ["protocol", "crypto"],
  storage: ["protocol", "limits"],
  store: ["storage", "limits"],
  events: ["store", "limits"],
  rpc: ["protocol", "limits", "metrics"],
  p2p: ["protocol", "limits", "socks"],
  node: ["rpc", "p2p", "storage", "consensus", "protocol", "crypto", "limits", "metrics", "socks"],
  wallet: ["rpc", "protocol", "crypto", "limits", "metrics", "socks", "store", "events"],
  client: [],
  devnet: ["node", "wallet", "rpc", "protocol", "crypto"],
  console: ["client", "rpc", "protocol", "crypto"],
  testkit: everything,
  bin: everything,
};

/** Folders of a package that may not import others of it, not even types: what is below knows nothing of what is above. */
const below = [{ folder: "packages/node/src/pool/", above: "packages/node/src/chain/" }];

/**
 * Floors of a package, lowest first: a file may import its own floor and those below, not even types from above. Names
 * that end in / are folders. Every file stands on one floor.
 */
const floors = [
  {
    of: "packages/wallet/src/",
    floors: [
      {
        name: "steps",
        holds: [
          "scan/",
          "transfer/",
          "proofs/",
          "multisig/",
          "cold-signing/",
          "signer/",
          "keys/",
          "history/",
          // What they work with.
          "threads/",
          "outputs/",
          "packed/",
          "payment.ts",
          "state.ts",
          "changes.ts",
          "encode-change.ts",
          "cbor.ts",
          "refusal.ts",
          "preferences.ts",
          "runtime.ts",
          "sending-counts.ts",
          "daemon.ts",
          "daemon-tls.ts",
          "unlock.ts",
          "turns.ts",
          "lists.ts",
          "tag-pattern.ts",
        ],
      },
      {
        name: "the living wallet",
        holds: [
          "wallet.ts",
          "wallet-scans.ts",
          "cached-facts.ts",
          "ledger/",
          "actions/",
          "events/",
          "intents/",
          "file/",
        ],
      },
      {
        name: "the service",
        holds: [
          "index.ts",
          "service.ts",
          "service-options.ts",
          "service-events.ts",
          "create-service.ts",
          "access/",
          "first-wallet.ts",
          "open-alias.ts",
          "many/",
          "monitor/",
          "fleet/",
          "rpc/",
        ],
      },
    ],
  },
];

/** Powers that only some sources may have; the rest of the code gets them by parameter or not at all. */
const powers = [
  { what: "the database", modules: ["lmdb"], only: ["packages/storage/src/", "packages/store/src/"] },
  { what: "PostgreSQL", modules: ["pg"], only: ["packages/store/src/postgres/"] },
  {
    what: "NATS",
    modules: ["@nats-io/jetstream", "@nats-io/transport-node"],
    only: ["packages/events/src/nats/", "packages/testkit/src/"],
  },
  {
    what: "sockets",
    modules: ["http", "https", "http2", "net", "tls", "dgram", "dns"],
    globals: ["fetch", "WebSocket", "XMLHttpRequest"],
    only: [
      "packages/rpc/src/",
      "packages/p2p/src/",
      "packages/socks/src/",
      "packages/events/src/webhooks/",
      "packages/client/src/",
      "packages/devnet/src/",
      "packages/metrics/src/",
      "packages/console/page/",
      "packages/testkit/src/",
    ],
  },
  {
    what: "the file system",
    modules: ["fs", "fs/promises"],
    // Beside the wallet's files: the databases' folders, and the compiled kernels.
    only: [
      "packages/wallet/src/file/",
      "packages/storage/src/",
      "packages/store/src/",
      "packages/crypto/src/",
      "packages/devnet/src/",
      "packages/console/src/",
      "packages/testkit/src/",
      "bin/src/",
    ],
  },
  {
    what: "other processes",
    modules: ["child_process", "cluster"],
    only: ["packages/node/src/pow/", "packages/devnet/src/programs/", "packages/testkit/src/", "bin/src/"],
  },
  { what: "WebAssembly", globals: ["WebAssembly"], only: ["packages/crypto/src/"] },
];

const problems = [];
let arrowsUpwards = 0;
const complain = (file, text) => problems.push(`${file}: ${text}`);

/** The package a file belongs to: "crypto", .., "bin", or "test" for the scenarios at the root. */
function packageOf(file) {
  const [first, second] = file.split("/");
  return first === "packages" ? second : first;
}

/** Names a file imports, types included, and the global names it uses. */
function parse(file) {
  const text = readFileSync(join(root, file), "utf8");
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const imports = [];
  const globals = new Set();
  const visit = (node) => {
    const specifier = node.moduleSpecifier;
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && specifier) {
      imports.push(specifier.text);
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [target] = node.arguments;
      if (target && ts.isStringLiteralLike(target)) imports.push(target.text);
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      imports.push(node.argument.literal.text);
    } else if (ts.isIdentifier(node) && isFreeName(node)) globals.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { imports, globals };
}

/** An identifier that names a value by itself, not a member, a key or a type's member. */
function isFreeName(node) {
  const parent = node.parent;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  return ts.isCallExpression(parent) || ts.isNewExpression(parent) || ts.isVariableDeclaration(parent);
}

/** Runs in a browser, where the build has put all it needs into it. */
const isPage = (file) => file.startsWith("packages/console/page/");
const isTest = (file) => /(^|\/)test\//.test(file);

function checkPackageImport(file, name, owner) {
  const [target, ...deeper] = name.slice("@anulo/".length).split("/");
  if (deeper.length > 0) complain(file, `imports the inside of another package: ${name}`);
  if (isTest(file) || target === owner) return;
  if (!allowed[owner]?.includes(target)) complain(file, `${owner} may not import ${target}`);
  const { dependencies = {}, devDependencies = {} } = manifest(owner);
  // The programs are published as a bundle, which contains the packages; so is the console's page.
  const bundled = isPage(file) ? { ...dependencies, ...devDependencies } : devDependencies;
  const declared = owner === "bin" || isPage(file) ? bundled : dependencies;
  if (!(`@anulo/${target}` in declared))
    complain(file, `@anulo/${target} is not among the dependencies of ${owner}`);
}

function checkOutsideImport(file, name, owner) {
  const dependency = name.startsWith("@") ? name.split("/").slice(0, 2).join("/") : name.split("/")[0];
  const declared = manifest(owner).dependencies ?? {};
  const forTests = manifest("").devDependencies ?? {};
  const inPage = isPage(file) ? (manifest(owner).devDependencies ?? {}) : {};
  if (dependency in declared || dependency in inPage || (isTest(file) && dependency in forTests)) return;
  complain(file, `${dependency} is not among the dependencies of ${owner}`);
}

const manifests = new Map();
function manifest(owner) {
  const path = { "": ".", bin: "bin", test: "." }[owner] ?? `packages/${owner}`;
  if (!manifests.has(path)) {
    manifests.set(path, JSON.parse(readFileSync(join(root, path, "package.json"), "utf8")));
  }
  return manifests.get(path);
}

function checkPowers(file, { imports, globals }) {
  if (isTest(file)) return;
  for (const { what, modules = [], globals: names = [], only } of powers) {
    if (only.some((prefix) => file.startsWith(prefix))) continue;
    const used = imports.map((name) => name.replace(/^node:/, "")).find((name) => modules.includes(name));
    const named = names.find((name) => globals.has(name));
    if (used ?? named) complain(file, `may not touch ${what} (${used ?? named})`);
  }
}

/** The floor a file stands on, as its place in the list of its package; undefined where the package has none. */
function floorOf(file) {
  const house = floors.find(({ of }) => file.startsWith(of));
  if (house === undefined) return undefined;
  const path = file.slice(house.of.length);
  const at = house.floors.findIndex(({ holds }) =>
    holds.some((name) => (name.endsWith("/") ? path.startsWith(name) : path === name)),
  );
  if (at === -1) complain(file, "stands on no floor of its package");
  return { house, at };
}

function checkFloors(file, target) {
  const from = floorOf(file);
  const to = floorOf(target);
  if (from === undefined || from.house !== to?.house || to.at <= from.at) return;
  arrowsUpwards += 1;
  const [here, there] = [from, to].map(({ house, at }) => house.floors[at]?.name ?? "no floor");
  complain(file, `${here} may not import ${there}: ${target}`);
}

/** The file a relative import names, or undefined after a complaint. */
function relativeTarget(file, name, owner) {
  const target = normalize(join(dirname(file), name));
  if (packageOf(target) !== owner) complain(file, `reaches into another package: ${name}`);
  if (!isTest(file) && isTest(target)) complain(file, `a source may not import a test: ${name}`);
  for (const { folder, above } of below) {
    if (file.startsWith(folder) && target.startsWith(above))
      complain(file, `imports what is above it: ${name}`);
  }
  checkFloors(file, target);
  return target;
}

/** Each cycle once, as the list of its files. Types count: who reads one file of a cycle must read them all. */
function cycles(graph) {
  const state = new Map();
  const circles = [];
  const visit = (file, path) => {
    if (state.get(file) === "done") return;
    if (state.get(file) === "open") {
      circles.push([...path.slice(path.indexOf(file)), file]);
      return;
    }
    state.set(file, "open");
    for (const next of graph.get(file) ?? []) visit(next, [...path, file]);
    state.set(file, "done");
  };
  for (const file of graph.keys()) visit(file, []);
  return circles;
}

function checkFile(file, graph) {
  const owner = packageOf(file);
  const parsed = parse(file);
  const targets = [];
  for (const name of parsed.imports) {
    if (name.startsWith(".")) {
      targets.push(relativeTarget(file, name, owner));
    } else if (name.startsWith("@anulo/")) checkPackageImport(file, name, owner);
    else if (!isBuiltin(name)) checkOutsideImport(file, name, owner);
    else if (!name.startsWith("node:")) complain(file, `write node:${name}`);
  }
  graph.set(file, targets);
  checkPowers(file, parsed);
}

if (process.argv.includes("--graph")) {
  const edges = Object.entries(allowed).flatMap(([from, to]) => to.map((name) => `  ${from} --> ${name}`));
  console.log(["graph TD", ...edges].join("\n"));
} else {
  const graph = new Map();
  const files = ["packages", "bin", "test"].flatMap((folder) =>
    filesBelow(folder, (name) => /\.tsx?$/.test(name)),
  );
  const checked = files.filter((file) => !file.startsWith("packages/crypto/assembly/"));
  for (const file of checked) checkFile(file, graph);
  const circles = cycles(graph);
  for (const cycle of circles) problems.push(`cycle: ${cycle.join(" -> ")}`);
  for (const problem of new Set(problems)) console.error(problem);
  console.log(`imports: ${checked.length} files, ${arrowsUpwards} arrows upwards, ${circles.length} circles`);
  console.log(`imports: ${problems.length} problems`);
  process.exit(problems.length === 0 ? 0 : 1);
}
