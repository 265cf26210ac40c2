// Which tests are there to notice a change.
import { allTests, compiledTest, leftBy } from "../test-plan.mjs";

/** Suites whose tests ask other programs, or repeat what those below them do at length. */
const foreignSuites = /^test\/(interop|eras|recognition|clients|secrets|fuzz)\//;

/** Of what `npm test` leaves to CI, what alone tries a part of the wallet: each method in each state, and fleets. */
const onlyInCi = /^test\/(states\/|e2e\/fleet)/;

/**
 * Compiled files of the tests that `npm test` runs without arguments and that need no other programs, and of some that it
 * leaves to CI; with `suites` of all those.
 */
export function testFiles({ suites }) {
  return allTests()
    .filter((file) => !foreignSuites.test(file))
    .filter((file) => suites || leftBy(file) === undefined || onlyInCi.test(file))
    .map(compiledTest);
}
