import { engineSuite } from "./engine-suite.ts";
import { memoryHarness } from "./harness.ts";
import { walletSuite } from "./wallet-suite.ts";

engineSuite("memory", memoryHarness);
walletSuite("memory", memoryHarness);
