/**
 * Describes what an unsigned set will do, before it is signed. Source: wallet_rpc_server.cpp `on_describe_transfer`.
 */
import {
  encryptedPaymentId,
  formatAddress,
  longPaymentId,
  parseExtra,
  sumAmounts,
  toHex,
} from "@anulo/protocol";
import { WalletRefusal } from "../refusal.ts";
import type { NetworkName } from "../state.ts";
import {
  type ConstructionData,
  type DestinationValue,
  feeOfConstruction,
  type SourceValue,
} from "../transfer/metadata.ts";
import { sum } from "../transfer/plan.ts";

type Paid = { readonly address: string; amount: bigint };

function refusal(message: string): WalletRefusal {
  return new WalletRefusal("BAD_UNSIGNED_TX_DATA", message);
}

const keyOf = ({ spendPublic, viewPublic }: DestinationValue): string =>
  toHex(spendPublic) + toHex(viewPublic);
const utf8 = new TextDecoder();

function addressText(
  entry: DestinationValue,
  network: NetworkName,
  paymentId: Uint8Array | undefined,
): string {
  const { spendPublic, viewPublic, isSubaddress, original } = entry;
  const kind = isSubaddress === 1 ? "subaddress" : "standard";
  const plain = formatAddress({ kind, spendPublic, viewPublic }, network);
  if (paymentId === undefined || kind === "subaddress" || plain === utf8.decode(original)) return plain;
  return formatAddress({ kind: "integrated", spendPublic, viewPublic, paymentId }, network);
}

function paymentIdsOf({ extra }: ConstructionData) {
  const fields = parseExtra(extra);
  const short = encryptedPaymentId(fields);
  const long = short === undefined ? longPaymentId(fields) : undefined;
  const real = short?.some((byte) => byte !== 0) ? short : undefined;
  return { real, text: toHex(real ?? long ?? new Uint8Array(0)) };
}

/** Sums by address, less the change. Throws `WalletRefusal` if the change is invalid. */
function payments(data: ConstructionData, network: NetworkName): Map<string, Paid> {
  const paid = new Map<string, Paid>();
  const { real } = paymentIdsOf(data);
  for (const entry of data.splitDestinations) {
    const sum = paid.get(keyOf(entry));
    if (sum === undefined)
      paid.set(keyOf(entry), { address: addressText(entry, network, real), amount: entry.amount });
    else sum.amount += entry.amount;
  }
  const { change } = data;
  if (change.amount === 0n) return paid;
  const back = paid.get(keyOf(change));
  if (back === undefined) throw refusal("Claimed change does not go to a paid address");
  if (back.amount < change.amount)
    throw refusal("Claimed change is larger than payment to the change address");
  back.amount -= change.amount;
  if (back.amount === 0n) paid.delete(keyOf(change));
  return paid;
}

/** The output that is spent, with its key and commitment as one text of 128 digits. */
function describeSource({ outputs, realOutput, amount, rct }: SourceValue) {
  const real = realOutput < outputs.length ? outputs[Number(realOutput)] : undefined;
  if (real === undefined) throw refusal("A source's real output is not in its ring");
  const pubkey = toHex(real.key) + toHex(real.commitment);
  return { amount, global_index: real.globalIndex, rct: rct === 1, pubkey };
}

function describeOne({ data, weight }: Described, network: NetworkName, changeAddress: string) {
  const paid = payments(data, network);
  const recipients = [...paid].filter(([, { amount }]) => amount > 0n);
  const amountIn = sumAmounts(data.sources);
  const amountOut = sumAmounts(data.splitDestinations);
  const fee = feeOfConstruction(data);
  if (fee < 0n) throw refusal("failed to parse unsigned transfers");
  return {
    recipients,
    description: {
      amount_in: amountIn,
      amount_out: amountOut,
      change_address: data.change.amount > 0n ? changeAddress : "",
      change_amount: data.change.amount,
      fee,
      recipients: recipients.map(([, { address, amount }]) => ({ address, amount })),
      dummy_outputs: paid.size - recipients.length,
      extra: toHex(data.extra),
      payment_id: paymentIdsOf(data).text,
      ring_size: data.sources.reduce((least, { outputs }) => Math.min(least, outputs.length), 0xffff_ffff),
      sources: data.sources.map(describeSource),
      unlock_time: data.unlockTime,
      weight,
    },
  };
}

/** A transaction to be described; its weight only once its bytes exist. */
export type Described = { readonly data: ConstructionData; readonly weight?: number | undefined };

/** One description per transaction, and their sum. Throws `WalletRefusal` for data that contradict themselves. */
export function describeSet(transactions: readonly Described[], network: NetworkName) {
  const all = transactions.map(({ data }) => data);
  const withChange = all.filter(({ change }) => change.amount > 0n);
  if (new Set(withChange.map(({ change }) => keyOf(change))).size > 1)
    throw refusal("Change goes to more than one address");
  const [first] = all;
  const { spendPublic, viewPublic } = (withChange[0] ?? first)?.change ?? {};
  const kind = (first?.account ?? 0) > 0 ? "subaddress" : "standard";
  const changeAddress =
    spendPublic && viewPublic ? formatAddress({ kind, spendPublic, viewPublic }, network) : "";
  const described = transactions.map((each) => describeOne(each, network, changeAddress));
  const paid = new Map<string, Paid>();
  for (const [key, { address, amount }] of described.flatMap(({ recipients }) => recipients))
    paid.set(key, { address, amount: (paid.get(key)?.amount ?? 0n) + amount });
  const desc = described.map(({ description }) => description);
  const total = (field: "amount_in" | "amount_out" | "change_amount" | "fee") =>
    sum(desc.map((each) => each[field]));
  return {
    desc,
    summary: {
      amount_in: total("amount_in"),
      amount_out: total("amount_out"),
      change_address: withChange.length > 0 ? changeAddress : "",
      change_amount: total("change_amount"),
      fee: total("fee"),
      recipients: [...paid.values()],
    },
  };
}
