import { engineSuite } from "./engine-suite.ts";
import { lmdbHarness } from "./harness.ts";
import { walletSuite } from "./wallet-suite.ts";

engineSuite("LMDB", lmdbHarness);
walletSuite("LMDB", lmdbHarness);
