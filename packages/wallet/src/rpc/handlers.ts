/** Every call of the wallet service with the function that answers it, or without one while there is none. */
import { wallet as declared, type Implemented, implementFor } from "@anulo/rpc";
import type { WalletContext } from "../service.ts";
import { accountHandlers } from "./accounts.ts";
import { addressBookHandlers } from "./address-book.ts";
import { coldSigningHandlers } from "./cold-signing.ts";
import { fileHandlers } from "./files.ts";
import { historyHandlers } from "./history.ts";
import { keyHandlers } from "./keys.ts";
import { proofHandlers } from "./proofs.ts";
import { serviceHandlers } from "./service.ts";
import { transferHandlers } from "./transfer.ts";

const implement = implementFor<WalletContext>();

const multisigHandlers = implement(
  declared.multisig,
  { isMultisig: () => ({ multisig: false, ready: false, threshold: 0, total: 0 }) },
  [
    "prepareMultisig",
    "makeMultisig",
    "finalizeMultisig",
    "exchangeMultisigKeys",
    "exportMultisigInfo",
    "importMultisigInfo",
    "signMultisig",
    "submitMultisig",
  ],
);

export const walletHandlers: readonly Implemented<WalletContext>[] = [
  ...accountHandlers,
  ...transferHandlers,
  ...coldSigningHandlers,
  ...historyHandlers,
  ...keyHandlers,
  ...proofHandlers,
  ...multisigHandlers,
  ...addressBookHandlers,
  ...fileHandlers,
  ...serviceHandlers,
];
