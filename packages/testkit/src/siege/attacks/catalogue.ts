import type { Attack, Ordeal } from "../attack.ts";
import { callerConnectionAttacks } from "./caller-connections.ts";
import { requestAttacks } from "./caller-requests.ts";
import { ordeals } from "./ordeals.ts";
import { blockAttacks } from "./peer-blocks.ts";
import { connectionAttacks } from "./peer-connections.ts";
import { messageAttacks } from "./peer-messages.ts";
import { paymentAttacks } from "./peer-payments.ts";
import { syncAttacks } from "./peer-sync.ts";
import { systemAttacks } from "./system-faults.ts";

/** All attacks, in the order in which they are run. */
export const attacks: readonly (Attack | Ordeal)[] = [
  ...messageAttacks,
  ...connectionAttacks,
  ...blockAttacks,
  ...paymentAttacks,
  ...syncAttacks,
  ...requestAttacks,
  ...callerConnectionAttacks,
  ...systemAttacks,
  ...ordeals,
];
