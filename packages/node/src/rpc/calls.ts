import { type Implemented, loadNodeReference } from "@anulo/rpc";
import { accessHandlers } from "./access.ts";
import { adminHandlers } from "./admin.ts";
import { blockHandlers } from "./blocks.ts";
import { bootstrapped } from "./bootstrap-calls.ts";
import type { NodeContext } from "./context.ts";
import { miningHandlers } from "./mining.ts";
import { networkHandlers } from "./network.ts";
import { outputHandlers } from "./outputs.ts";
import { poolHandlers } from "./pool.ts";
import { tracked } from "./tracked-calls.ts";
import { transactionHandlers } from "./transactions.ts";

/** Every call of the node service with the function that answers it. */
function nodeCalls(): Implemented<NodeContext>[] {
  const calls = [
    ...blockHandlers(),
    ...transactionHandlers(),
    ...outputHandlers(),
    ...poolHandlers(),
    ...miningHandlers(),
    ...networkHandlers(),
    ...adminHandlers(),
    ...accessHandlers(),
  ];
  return tracked(bootstrapped(calls));
}

/** The calls, and what documents say of them. */
export const nodeInterface = () => ({ calls: nodeCalls(), reference: loadNodeReference });
