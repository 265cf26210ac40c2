// What a run of the tests without arguments leaves to CI, and why: the files that take most processor time, whose
// subjects others of the short run try in a smaller form.

import { filesBelow } from "./sources.mjs";

/** Each begins the paths of the files it leaves; the reason is printed at the end of the run. */
export const leftToCi = [
  { path: "test/interop/", why: "the original programs beside ours" },
  { path: "test/siege/", why: "attacks on a node with a heap of its own" },
  { path: "test/states/", why: "every method of the wallet in every state" },
  { path: "test/fuzz/", why: "damaged bytes for every decoder and call" },
  { path: "test/console/", why: "the console in Chromium" },
  { path: "test/clients/browser", why: "our client in Chromium" },
  { path: "test/clients/monero-ts", why: "another client's whole library" },
  { path: "test/documents/commands", why: "commands of README and docs" },
  { path: "test/documents/contributing", why: "commands of CONTRIBUTING, some of which run tests" },
  { path: "test/e2e/first-start", why: "a clone in which nothing was built" },
  { path: "test/e2e/crash", why: "nodes killed at random moments" },
  { path: "test/e2e/wallet-crash", why: "wallet services killed at named points" },
  { path: "test/e2e/signers-crash", why: "signers killed at named points" },
  { path: "test/e2e/payer", why: "a payer while everything breaks" },
  { path: "test/e2e/events", why: "a wallet service and a NATS server killed while events are read" },
  { path: "test/e2e/fleet", why: "processes of a fleet killed and stopped" },
  { path: "test/e2e/forgetful-disk", why: "disks that forget" },
  { path: "test/e2e/devnets", why: "many devnets at once" },
  { path: "test/e2e/real-chains", why: "recorded chains, as the original programs said of them" },
  { path: "test/e2e/many-wallets", why: "50 wallets in one service" },
];

/** The entry that leaves a file to CI; undefined for files of the short run. */
export function leftBy(file) {
  return leftToCi.find(({ path }) => file.startsWith(path));
}

/** Divides the files into those that run and those that are left, by entry. Throws where an entry leaves none. */
export function shortRun(files) {
  const run = files.filter((file) => leftBy(file) === undefined);
  const rest = leftToCi.map((entry) => ({
    ...entry,
    files: files.filter((file) => leftBy(file) === entry),
  }));
  const idle = rest.find((entry) => entry.files.length === 0);
  if (idle !== undefined) throw new Error(`no test file begins with ${idle.path}`);
  return { run, rest };
}

/** What a short run says at its end. */
export function describeLeft(rest) {
  const count = rest.reduce((sum, { files }) => sum + files.length, 0);
  const width = Math.max(...rest.map(({ path }) => path.length));
  return [
    `left to CI: ${count} files`,
    ...rest.map(({ path, files, why }) => `  ${path.padEnd(width)} ${`${files.length}`.padStart(2)}  ${why}`),
    "all of them: npm test -- --all (as with CI=true); some: node scripts/test.mjs PART-OF-A-PATH",
  ].join("\n");
}

/** `packages/x/test/a.test.ts` is compiled to `packages/x/dist/test/a.test.js`, `test/a.test.ts` to `test/dist/a.test.js`. */
export function compiledTest(source) {
  const inPackage = /^(packages\/[^/]+|bin)\/(test\/.*)\.ts$/.exec(source);
  if (inPackage) return `${inPackage[1]}/dist/${inPackage[2]}.js`;
  return source.replace(/^test\//, "test/dist/").replace(/\.ts$/, ".js");
}

/** The sources of all test files. */
export function allTests() {
  return ["packages", "bin", "test"].flatMap((folder) =>
    filesBelow(folder, (name) => name.endsWith(".test.ts")),
  );
}
