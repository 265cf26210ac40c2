import { memoryPlace } from "./harness.ts";
import { logSuite } from "./log-suite.ts";

logSuite("memory", memoryPlace);
