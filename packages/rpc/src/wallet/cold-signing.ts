import { costs } from "../costs.ts";
import { list, object, omitEmpty, optional, or, zero } from "../schema/composites.ts";
import { flag, hash, hex, text, u64, uint, uint32 } from "../schema/scalars.ts";
import { serialized } from "../schema/written.ts";
import { onOwnSpendKey, onOwnSpendKeySigner, payingOnce, walletMethod } from "./fields.ts";

const recipients = list(object({ address: text, amount: u64 }));

const described = {
  amount_in: u64,
  amount_out: u64,
  change_address: text,
  change_amount: u64,
  fee: u64,
  recipients,
};

const source = object({ amount: u64, global_index: u64, rct: flag, pubkey: hex });

const signedKeyImage = object({ key_image: hash, signature: hex });

/** Signing away from the network, and carrying outputs and key images there and back. */
export const coldSigning = {
  signTransfer: walletMethod({
    name: "sign_transfer",
    scope: "spend",
    isUncounted: true,
    needs: onOwnSpendKeySigner,
    cost: costs.bulky,
    summary: "Signs a set of transactions a view-only wallet built.",
    params: object({ unsigned_txset: hex, export_raw: or(flag, false), get_tx_keys: or(flag, false) }),
    result: object({
      signed_txset: hex,
      tx_hash_list: list(hash),
      tx_key_list: omitEmpty(list(hex)),
      tx_raw_list: list(hex),
    }),
  }),
  submitTransfer: walletMethod({
    name: "submit_transfer",
    scope: "spend",
    isUncounted: true,
    cost: costs.bulky,
    summary: "Sends a signed set of transactions.",
    params: object({ tx_data_hex: hex, ...payingOnce }),
    result: object({ tx_hash_list: list(hash) }),
  }),
  describeTransfer: walletMethod({
    name: "describe_transfer",
    scope: "read",
    needs: onOwnSpendKey,
    cost: costs.bulky,
    reads: true,
    summary: "What an unsigned or multisig set of transactions would do.",
    params: object({ unsigned_txset: zero(hex), multisig_txset: zero(hex) }),
    result: object({
      desc: list(
        object({
          ...described,
          dummy_outputs: uint32,
          extra: hex,
          payment_id: text,
          ring_size: uint32,
          sources: list(source),
          unlock_time: u64,
          weight: optional(uint),
        }),
      ),
      summary: object(described),
    }),
  }),
  exportOutputs: walletMethod({
    name: "export_outputs",
    scope: "read",
    needs: onOwnSpendKey,
    cost: costs.large,
    reads: true,
    summary: "Outputs for the wallet that holds the spend key: those it was not given yet, or a part of all.",
    params: object({ all: zero(flag), start: or(uint32, 0), count: or(uint32, 0xffff_ffff) }),
    result: object({ outputs_data_hex: serialized(hex) }),
  }),
  importOutputs: walletMethod({
    name: "import_outputs",
    scope: "spend",
    needs: onOwnSpendKey,
    cost: costs.bulky,
    summary: "Takes the outputs a view-only wallet exported.",
    params: object({ outputs_data_hex: hex }),
    result: object({ num_imported: uint }),
  }),
  exportKeyImages: walletMethod({
    name: "export_key_images",
    scope: "secrets",
    needs: onOwnSpendKey,
    cost: costs.large,
    reads: true,
    summary: "Signed key images for a view-only wallet.",
    params: object({ all: or(flag, false) }),
    result: object({ offset: uint32, signed_key_images: list(signedKeyImage) }),
  }),
  importKeyImages: walletMethod({
    name: "import_key_images",
    scope: "spend",
    cost: costs.bulky,
    needs: [...onOwnSpendKey, "trustedDaemon"],
    summary: "Takes signed key images; answers what is spent and unspent, in atomic units.",
    params: object({ offset: or(uint32, 0), signed_key_images: list(signedKeyImage) }),
    result: object({ height: uint, spent: u64, unspent: u64 }),
  }),
};
