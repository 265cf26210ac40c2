import { access } from "./access.ts";
import { admin } from "./admin.ts";
import { blocks } from "./blocks.ts";
import { mining } from "./mining.ts";
import { network } from "./network.ts";
import { outputs } from "./outputs.ts";
import { pool } from "./pool.ts";
import { transactions } from "./transactions.ts";

/** Every call of the node service, by subject; handlers are written group by group. */
export const daemon = { blocks, transactions, outputs, pool, mining, network, admin, access };

/** Every call of the node service in one group. */
export const daemonMethods = {
  ...blocks,
  ...transactions,
  ...outputs,
  ...pool,
  ...mining,
  ...network,
  ...admin,
  ...access,
};
