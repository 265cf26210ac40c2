import { inResult, type Rule, refused, resulted } from "../rule.ts";

const exchangeFails = (why: string) => `Error calling exchange_multisig_info: ${why}`;
const unreadable = "not a multisig string of the second version";

/**
 * Setting up multisig wallets. In the documented dialect a wallet is ready when it has its address and returns no string
 * then (S4), so what the recordings do next with those strings comes to nothing.
 */
export const multisig: readonly Rule[] = [
  {
    id: /^exchange_multisig_keys:already done$/,
    release: "0.18.5",
    why: "exchange_multisig_keys: a wallet that is ready says so, as in 0.18.0",
    change: (answer) => refused(answer, -28, "This wallet is multisig, and already finalized"),
  },
  {
    id: /^make_multisig:(without the flag|bad info|without threshold|threshold is null|without password|password is null)$/,
    why: "make_multisig: an unreadable string is refused in our words; the original shows an error of its library",
    change: (answer) => refused(answer, -1, unreadable),
  },
  {
    id: /^make_multisig:(2 of 2, [ab])$/,
    dialect: "contract",
    why: "S4",
    change: (answer) => inResult(answer, (it) => ({ ...it, multisig_info: "" })),
    holds: { ".json.result.multisig_info": (actual) => actual === "" },
  },
  {
    id: /^is_multisig:(between|m3 round 2)$/,
    dialect: "contract",
    why: "S4",
    change: (answer) => inResult(answer, (it) => ({ ...it, ready: true })),
  },
  {
    id: /^finalize_multisig(:empty params)?$/,
    dialect: "contract",
    why: "S4",
    change: (answer) => refused(answer, -13, "No wallet file"),
  },
  {
    id: /^finalize_multisig:2 of 2$/,
    dialect: "contract",
    why: "S4",
    change: (answer) => refused(answer, -28, "This wallet is multisig, and already finalized"),
  },
  {
    id: /^exchange_multisig_keys:(2 of 2, [ab]|already done)$/,
    dialect: "contract",
    why: "S4",
    change: (answer) => refused(answer, -1, exchangeFails("the other signers have come to another address")),
  },
  {
    id: /^finalize_multisig:ordinary wallet$/,
    dialect: "contract",
    why: "S4",
    change: (answer) => refused(answer, -31, "This wallet is not multisig"),
  },
  {
    id: /^finalize_multisig:restricted$/,
    dialect: "contract",
    why: "S4",
    change: (answer) => refused(answer, -7, "Command unavailable in restricted mode."),
  },
  {
    id: /^finalize_multisig:m3$/,
    dialect: "contract",
    why: "S4",
    change: (answer) => resulted(answer, { address: "" }),
    holds: { ".json.result.address": isAddress },
  },
  {
    id: /^exchange_multisig_keys:m3 a$/,
    dialect: "contract",
    why: "S4",
    change: (answer) =>
      refused(answer, -1, exchangeFails("Messages don't have the expected kex round number: 3")),
  },
  {
    id: /^exchange_multisig_keys:m3 [bc]$/,
    dialect: "contract",
    why: "S4",
    change: (answer) => answer,
    holds: { ".json.result.address": isAddress },
  },
  {
    id: /^exchange_multisig_keys:m3 last a$/,
    dialect: "contract",
    why: "S4",
    change: (answer) =>
      refused(answer, -1, exchangeFails("the other signers' strings confirm more than the address")),
  },
  {
    id: /^exchange_multisig_keys:m3 last [bc]$/,
    dialect: "contract",
    why: "S4",
    change: (answer) =>
      refused(answer, -1, exchangeFails("not all other signers have confirmed the address")),
  },
];

function isAddress(actual: unknown): boolean {
  return typeof actual === "string" && /^4[1-9A-Za-z]{94}$/.test(actual);
}
