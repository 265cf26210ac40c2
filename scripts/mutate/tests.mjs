// Which tests are there to notice a change.
import { filesBelow } from "../sources.mjs";
import { leftBy } from "../test-plan.mjs";
import { compiledPath } from "./compile.mjs";

/** Suites whose tests ask other programs, or repeat what those below them do at length. */
const foreignSuites = /^test\/(interop|eras|recognition|clients|secrets|fuzz)\//;

function compiledTest(source) {
  if (source.startsWith("test/")) return source.replace(/^test\//, "test/dist/").replace(/\.ts$/, ".js");
  return compiledPath(source);
}

/** Compiled files of the tests that `npm test` runs without arguments and that need no other programs; with `suites` also of those left to CI. */
export function testFiles({ suites }) {
  return ["packages", "bin", "test"]
    .flatMap((folder) => filesBelow(folder, (name) => name.endsWith(".test.ts")))
    .filter((file) => !foreignSuites.test(file) && (suites || leftBy(file) === undefined))
    .map(compiledTest);
}
