import { test } from "node:test";
import { createChainFolders, createPlan, runNetwork } from "@anulo/testkit";
import { needsReleases } from "../actors.ts";

const releases = ["today", "installed"] as const;

// Closes the class of states in which nodes of a network that was apart do not find together again.
test(
  "three of ours and two originals that were cut off from one another have one chain afterwards",
  needsReleases(...releases),
  async (t) => {
    const sizes = { nodes: 5, blocks: 9, payments: 3 };
    const plan = createPlan({ seed: 5, ...sizes, releases });
    const folders = await createChainFolders({ releases });
    try {
      const report = await runNetwork({ plan, folders, log: (text) => t.diagnostic(text) });
      t.diagnostic(JSON.stringify(report));
    } finally {
      folders.remove();
    }
  },
);
