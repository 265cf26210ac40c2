import { test } from "node:test";
import { originalPrograms, originalsMissing } from "./original-programs.ts";
import { testPayments } from "./payment-suite.ts";

const missing = originalsMissing();

if (missing === undefined) testPayments({ programs: originalPrograms });
else test("payments with the original programs", { skip: missing }, () => undefined);
