import { walletDescriptions } from "../wallet/descriptions.ts";
import { wallet } from "../wallet/wallet.ts";
import { readExamples } from "./examples.ts";
import { amountsNote, type ServiceReference, type Subject, version } from "./service-reference.ts";
import { walletErrors } from "./wallet-errors.ts";

const subjects: readonly Subject[] = [
  { name: "accounts", description: "Accounts, addresses and balances.", calls: wallet.accounts },
  { name: "transfers", description: "Building and sending transactions.", calls: wallet.transfers },
  {
    name: "intents",
    description: "Payments by the idempotency key of the call that made them.",
    calls: wallet.intents,
  },
  {
    name: "coldSigning",
    description: "Signing away from the network; outputs and key images there and back.",
    calls: wallet.coldSigning,
  },
  {
    name: "history",
    description: "What came in and went out, and notes about it.",
    calls: wallet.history,
  },
  {
    name: "keys",
    description: "Keys, integrated addresses, attributes, payment URIs.",
    calls: wallet.keys,
  },
  {
    name: "proofs",
    description: "Proofs of payment and of funds, and signed messages.",
    calls: wallet.proofs,
  },
  { name: "multisig", description: "Wallets that several signers share.", calls: wallet.multisig },
  { name: "addressBook", description: "Addresses stored with a description.", calls: wallet.addressBook },
  {
    name: "files",
    description: "Wallet files: creating, opening, restoring, closing.",
    calls: wallet.files,
  },
  { name: "background", description: "Scanning without the spend key.", calls: wallet.background },
  { name: "webhooks", description: "Deliveries of the service's events.", calls: wallet.webhooks },
  {
    name: "tokens",
    description: "Tokens, by which callers are identified and limited.",
    calls: wallet.tokens,
  },
  {
    name: "service",
    description: "Scanning, the wallet's node, and the service itself.",
    calls: wallet.service,
  },
];

/** What the wallet service's document says beside its declarations. */
export function walletReference(): ServiceReference {
  return {
    title: "Anulo wallet service",
    version,
    description: `The wallet service's calls, as monero-wallet-rpc answers them, for the open wallet at \`/json_rpc\` and for any wallet at \`/wallets/NAME/json_rpc\`. ${amountsNote}`,
    server: {
      url: "http://127.0.0.1:18083/json_rpc",
      description: "The port is the one of `--rpc-bind-port`; there is no default.",
    },
    subjects,
    descriptions: walletDescriptions,
    errors: walletErrors,
    examples: readExamples("wallet"),
  };
}
