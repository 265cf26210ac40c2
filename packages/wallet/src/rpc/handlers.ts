/** Every call of the wallet service with its handler, or without one if it is not implemented. */
import type { Implemented } from "@anulo/rpc";
import type { WalletContext } from "../service.ts";
import { accountHandlers } from "./accounts.ts";
import { addressBookHandlers } from "./address-book.ts";
import { backgroundHandlers } from "./background.ts";
import { coldSigningHandlers } from "./cold-signing.ts";
import { fileHandlers } from "./files.ts";
import { historyHandlers } from "./history.ts";
import { intentHandlers } from "./intents.ts";
import { keyHandlers } from "./keys.ts";
import { multisigHandlers } from "./multisig.ts";
import { proofHandlers } from "./proofs.ts";
import { serviceHandlers } from "./service.ts";
import { tokenHandlers } from "./tokens.ts";
import { transferHandlers } from "./transfer.ts";
import { webhookHandlers } from "./webhooks.ts";

export const walletHandlers: readonly Implemented<WalletContext>[] = [
  ...accountHandlers,
  ...transferHandlers,
  ...intentHandlers,
  ...coldSigningHandlers,
  ...historyHandlers,
  ...keyHandlers,
  ...proofHandlers,
  ...multisigHandlers,
  ...addressBookHandlers,
  ...fileHandlers,
  ...backgroundHandlers,
  ...webhookHandlers,
  ...tokenHandlers,
  ...serviceHandlers,
];
