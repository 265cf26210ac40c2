import { costs } from "../costs.ts";
import { object, or, zero } from "../schema/composites.ts";
import { flag, hash, text, u64, uint, uint32 } from "../schema/scalars.ts";
import { serialized } from "../schema/written.ts";
import { onOpenWallet, onOwnSpendKey, onSpendKey, walletMethod } from "./fields.ts";

const signature = object({ signature: text });

/** Proofs of payment and of funds, and signed messages. */
export const proofs = {
  getTxProof: walletMethod({
    name: "get_tx_proof",
    scope: "secrets",
    cost: costs.medium,
    reads: true,
    needs: onSpendKey,
    summary: "Proves that a transaction paid an address.",
    params: object({ txid: hash, address: text, message: zero(text) }),
    result: signature,
  }),
  checkTxProof: walletMethod({
    name: "check_tx_proof",
    scope: "read",
    reads: true,
    needs: onOpenWallet,
    summary: "Checks a proof of payment.",
    params: object({ txid: hash, address: text, message: zero(text), signature: text }),
    result: object({ confirmations: uint, good: flag, in_pool: flag, received: u64 }),
  }),
  getSpendProof: walletMethod({
    name: "get_spend_proof",
    scope: "secrets",
    cost: costs.medium,
    reads: true,
    needs: onOpenWallet,
    summary: "Proves that this wallet made a transaction.",
    params: object({ txid: hash, message: zero(text) }),
    result: signature,
  }),
  checkSpendProof: walletMethod({
    name: "check_spend_proof",
    scope: "read",
    cost: costs.bulky,
    reads: true,
    needs: onOpenWallet,
    summary: "Checks a proof of having made a transaction.",
    params: object({ txid: hash, message: zero(text), signature: text }),
    result: object({ good: flag }),
  }),
  getReserveProof: walletMethod({
    name: "get_reserve_proof",
    scope: "secrets",
    cost: costs.large,
    reads: true,
    needs: onSpendKey,
    summary: "Proves that the wallet holds an amount, or all it has.",
    params: object({
      all: zero(flag),
      account_index: zero(uint32),
      amount: zero(u64),
      message: zero(text),
    }),
    result: object({ signature: serialized(text) }),
  }),
  checkReserveProof: walletMethod({
    name: "check_reserve_proof",
    scope: "read",
    cost: costs.bulky,
    reads: true,
    needs: onOpenWallet,
    summary: "Checks a proof of funds; amounts in atomic units.",
    params: object({ address: text, message: zero(text), signature: text }),
    result: object({ good: flag, spent: u64, total: u64 }),
  }),
  sign: walletMethod({
    name: "sign",
    scope: "secrets",
    needs: onOwnSpendKey,
    cost: costs.bulky,
    reads: true,
    summary: "Signs a text with the keys of an address.",
    params: object({
      data: text,
      account_index: or(uint32, 0),
      address_index: or(uint32, 0),
      signature_type: zero(text),
    }),
    result: signature,
  }),
  verify: walletMethod({
    name: "verify",
    scope: "read",
    cost: costs.bulky,
    reads: true,
    summary: "Checks a signed text.",
    params: object({ data: text, address: text, signature: text }),
    result: object({ good: flag, old: flag, signature_type: text, version: uint32 }),
  }),
};
