import { accounts } from "./accounts.ts";
import { addressBook } from "./address-book.ts";
import { background } from "./background.ts";
import { coldSigning } from "./cold-signing.ts";
import { files } from "./files.ts";
import { history } from "./history.ts";
import { intents } from "./intents.ts";
import { keys } from "./keys.ts";
import { multisig } from "./multisig.ts";
import { proofs } from "./proofs.ts";
import { service } from "./service.ts";
import { tokens } from "./tokens.ts";
import { transfers } from "./transfers.ts";
import { webhooks } from "./webhooks.ts";

/**
 * Every call of the wallet service, by subject. To add one, declare it in the group it belongs to, with `walletMethod`:
 * the handlers of that group (`packages/wallet/src/rpc/`) do not compile until they have it, and its types, its checks,
 * the client and the documents follow from the declaration (`npm run build`).
 */
export const wallet = {
  accounts,
  transfers,
  intents,
  coldSigning,
  history,
  keys,
  proofs,
  multisig,
  addressBook,
  files,
  background,
  webhooks,
  tokens,
  service,
};

/** Every call of the wallet service in one group. */
export const walletMethods = {
  ...accounts,
  ...transfers,
  ...intents,
  ...coldSigning,
  ...history,
  ...keys,
  ...proofs,
  ...multisig,
  ...addressBook,
  ...files,
  ...background,
  ...webhooks,
  ...tokens,
  ...service,
};
