import { lmdbPlace } from "./harness.ts";
import { logSuite } from "./log-suite.ts";

logSuite("LMDB", lmdbPlace);
