/** Sending. Declarations: @anulo/rpc wallet/transfers. */
import {
  BadBytes,
  BadHex,
  estimateTransactionSize,
  estimateTransactionWeight,
  fromHex,
  keyImagesOf,
  sumAmounts,
  toHex,
} from "@anulo/protocol";
import { wallet as declared, implementFor, type ParamsOf } from "@anulo/rpc";
import { type HandedOut, handOut } from "../actions/handover.ts";
import {
  idsOf,
  makePayment,
  makeSweep,
  makeUnmixableSweep,
  outlayOf,
  type Planned,
  relayPending,
  submitPending,
} from "../actions/transfers.ts";
import { askedBy } from "../intents/asked.ts";
import { type OpenIntent, payOnce } from "../intents/once.ts";
import { resolveAddress, resolveAddresses } from "../open-alias.ts";
import { WalletRefusal } from "../refusal.ts";
import type { WalletContext } from "../service.ts";
import type { Made } from "../signer/signer.ts";
import { parseDestination, parseDestinations, withFeePayers } from "../transfer/destinations.ts";
import { type PendingTransaction, readMetadata, writeMetadata } from "../transfer/metadata.ts";
import type { Sweep } from "../transfer/prepare.ts";
import { adjustPriority, QUIET_PRIORITY } from "../transfer/priority.ts";
import { RING_SIZE } from "../transfer/stages.ts";
import type { Wallet } from "../wallet.ts";
import { parseKeyImage } from "./parse-hex.ts";

type Build = Pick<
  ParamsOf<typeof declared.transfers.transfer>,
  "account_index" | "subaddr_indices" | "priority" | "payment_id"
>;
type Choice = Pick<
  ParamsOf<typeof declared.transfers.transfer>,
  "do_not_relay" | "get_tx_hex" | "get_tx_metadata"
> & { readonly keys: boolean };

/** Nodes no longer relay transactions with an unlock time, so such a payment would never be mined. */
function checkUnlockTime({
  unlock_time,
}: Pick<ParamsOf<typeof declared.transfers.transfer>, "unlock_time">): void {
  if (unlock_time === 0n) return;
  throw new WalletRefusal("NONZERO_UNLOCK_TIME", "Transaction cannot have non-zero unlock time");
}

function checkPaymentId(paymentId: string): void {
  if (paymentId === "") return;
  throw new WalletRefusal(
    "WRONG_PAYMENT_ID",
    "Standalone payment IDs are obsolete. Use subaddresses or integrated addresses instead",
  );
}

/** A spend, and the form of its response. */
type Finish<R> = {
  readonly choice: Choice;
  readonly intent: OpenIntent;
  readonly answerWith: (finished: Finished) => R;
};

/**
 * Returns the created transactions: texts that were not requested are "". They are relayed unless the caller wants to
 * do that; the response is stored with them for callers that repeat the call.
 */
async function finish<R extends object>(
  wallet: Wallet,
  transactions: readonly Made[],
  { choice, intent, answerWith }: Finish<R>,
): Promise<R> {
  const pending = transactions.map((each) => each.pending);
  const handedOut = await handOut(wallet, pending);
  const answer = answerWith(describe(transactions, choice, handedOut));
  if (handedOut !== undefined) await intent.handOut(answer, []);
  else if (choice.do_not_relay)
    await intent.handOut(
      answer,
      transactions.map(({ signed }) => signed.txHash),
    );
  else await submitPending(wallet, pending, await intent.submission(answer, idsOf(pending)));
  return answer;
}

/** The response fields of transactions, and of the set that others have to sign first. */
function describe(transactions: readonly Made[], choice: Choice, handedOut: HandedOut | undefined) {
  const described = transactions.map(({ signed, pending }) => ({
    amount: sumAmounts(signed.destinations),
    amounts_by_dest: { amounts: inOrder(signed.destinations).map(({ amount }) => amount) },
    fee: signed.fee,
    spent_key_images: { key_images: keyImagesOf(pending.transaction.prefix).map(toHex) },
    tx_blob: choice.get_tx_hex ? toHex(signed.blob) : "",
    tx_hash: toHex(signed.txHash),
    tx_key: choice.keys ? signed.txKeys.map(toHex).join("") : "",
    tx_metadata: choice.get_tx_metadata ? toHex(writeMetadata(pending)) : "",
    weight: signed.weight,
  }));
  if (handedOut === undefined) return { described, sets: noSets };
  const sealed = toHex(handedOut.sealed);
  if (handedOut.to === "spendKey") return { described, sets: { ...noSets, unsigned_txset: sealed } };
  // An incomplete transaction has no id yet.
  const untold = described.map((each) => ({ ...each, tx_hash: "", tx_blob: "", tx_metadata: "" }));
  return { described: untold, sets: { ...noSets, multisig_txset: sealed } };
}

/** Destinations in the order of the request, which planning changes if destinations pay the fee. */
function inOrder(destinations: Made["signed"]["destinations"]): Made["signed"]["destinations"] {
  return [...destinations].sort((a, b) => (a.place ?? 0) - (b.place ?? 0));
}

type Finished = ReturnType<typeof describe>;
const noSets = { multisig_txset: "", unsigned_txset: "" };

const noLists = { amounts_by_dest_list: [], spent_key_images_list: [], weight_list: [] };

const nonEmpty = (texts: readonly string[]): string[] => texts.filter((text) => text !== "");

/** The same fields as lists, with one element per transaction. */
function asLists({ described, sets }: Finished) {
  return {
    amount_list: described.map(({ amount }) => amount),
    amounts_by_dest_list: described.map(({ amounts_by_dest }) => amounts_by_dest),
    fee_list: described.map(({ fee }) => fee),
    tx_blob_list: nonEmpty(described.map(({ tx_blob }) => tx_blob)),
    tx_hash_list: nonEmpty(described.map(({ tx_hash }) => tx_hash)),
    tx_key_list: nonEmpty(described.map(({ tx_key }) => tx_key)),
    tx_metadata_list: nonEmpty(described.map(({ tx_metadata }) => tx_metadata)),
    weight_list: described.map(({ weight }) => weight),
    spent_key_images_list: described.map(({ spent_key_images }) => spent_key_images),
    ...sets,
  };
}

type Destinations = ParamsOf<typeof declared.transfers.transfer>["destinations"];

/** Signs transactions that pay all destinations; at most one if `single` is set. */
async function pay(
  wallet: Wallet,
  params: Build & { destinations: Destinations; subtract_fee_from_outputs?: readonly number[] },
  { single, intent }: { readonly single: boolean; readonly intent: OpenIntent },
): Promise<Made[]> {
  const parsed = await parseDestinations(params.destinations, wallet.network);
  const destinations = await withFeePayers(parsed, params.subtract_fee_from_outputs ?? []);
  checkPaymentId(params.payment_id);
  const { account_index: account, subaddr_indices: minors, priority } = params;
  return await makePayment(wallet, { destinations, account, minors, priority }, async (transactions) => {
    if (transactions.length === 0) throw new WalletRefusal("TX_NOT_POSSIBLE", "No transaction created");
    if (single && transactions.length > 1)
      throw new WalletRefusal("TX_TOO_LARGE", "Transaction would be too large.  try /transfer_split.");
    await intent.plan(outlayOf(transactions));
  });
}

/** Counts the payment that is about to be signed, and stores it if the call has a key. */
const planIn =
  ({ plan }: OpenIntent): Planned =>
  (transactions) =>
    plan(outlayOf(transactions));

function sweepOf(
  wallet: Wallet,
  params: Build & { address: string; outputs: number; below_amount: bigint },
): Sweep & { readonly priority: number } {
  const destination = parseDestination({ address: params.address, amount: 0n }, wallet.network);
  checkPaymentId(params.payment_id);
  if (params.outputs < 1)
    throw new WalletRefusal("TX_NOT_POSSIBLE", "Amount of outputs should be greater than 0.");
  const { account_index: account, subaddr_indices: minors, priority } = params;
  const { outputs, below_amount: below } = params;
  return { destination, account, minors, priority, outputs, below };
}

/**
 * The output that a sweep_single refers to; throws `WalletRefusal` for an invalid key image and for an output that
 * can't be spent.
 */
function namedOutput(wallet: Wallet, keyImage: string) {
  const output = wallet.outputOf(parseKeyImage(keyImage));
  if (output === undefined || !wallet.isSpendable(output))
    throw new WalletRefusal("UNKNOWN_ERROR", "No outputs found");
  return output;
}

function parseMetadata(hex: string): PendingTransaction {
  try {
    return readMetadata(fromHex(hex));
  } catch (error) {
    if (error instanceof BadHex) throw new WalletRefusal("BAD_HEX", "Failed to parse hex.");
    if (error instanceof BadBytes) throw new WalletRefusal("BAD_TX_METADATA", "Failed to parse tx metadata.");
    throw error;
  }
}

/** Bytes of `extra` with a public key and a short payment id. Source: wallet_rpc_server.cpp. */
const USUAL_EXTRA_BYTES = 34 + 10;
/** Bytes per ring member of an input, before RingCT. Source: wallet2.cpp APPROXIMATE_INPUT_BYTES. */
const OLD_BYTES_PER_MEMBER = 80;
/** Maximum of the signed 32-bit integers in which the original counts. */
const MOST = 0x7fff_ffff;

/** Size in bytes and weight; a transaction has at least two outputs. Source: wallet2.cpp `estimate_tx_size_and_weight`. */
function estimateSize(shape: { inputs: number; outputs: number; ringSize: number }, rct: boolean) {
  const { inputs, ringSize } = shape;
  if (inputs === 0 || Math.max(inputs, shape.outputs, ringSize) > MOST)
    throw new WalletRefusal("UNKNOWN_ERROR", "Failed to determine size and weight");
  const outputs = shape.outputs === 1 ? 2 : shape.outputs;
  if (!rct) {
    const size = inputs * ringSize * OLD_BYTES_PER_MEMBER + USUAL_EXTRA_BYTES + outputs;
    return { size, weight: size };
  }
  const full = { inputs, outputs, ringSize, extraSize: USUAL_EXTRA_BYTES };
  return { size: estimateTransactionSize(full), weight: estimateTransactionWeight(full) };
}

export const transferHandlers = implementFor<WalletContext>()(declared.transfers, {
  /**
   * Every change is on disk before its response is sent; only the cache of the original program remains to be written.
   */
  async store(_, { opened }) {
    await opened.store();
    return {};
  },
  async transfer(params, { opened: { wallet }, allowance, service }) {
    checkUnlockTime(params);
    return await payOnce({ wallet, allowance }, askedBy(declared.transfers.transfer, params), {
      prepare: () => resolveAddresses(params.destinations, service),
      perform: async (destinations, intent) => {
        const transactions = await pay(wallet, { ...params, destinations }, { single: true, intent });
        const choice = { ...params, keys: params.get_tx_key };
        const answerWith = ({ described, sets }: Finished) => ({ ...described[0]!, ...sets });
        return await finish(wallet, transactions, { choice, intent, answerWith });
      },
    });
  },
  async transferSplit(params, { opened: { wallet }, allowance, service }) {
    checkUnlockTime(params);
    return await payOnce({ wallet, allowance }, askedBy(declared.transfers.transferSplit, params), {
      prepare: () => resolveAddresses(params.destinations, service),
      perform: async (destinations, intent) => {
        const transactions = await pay(wallet, { ...params, destinations }, { single: false, intent });
        const choice = { ...params, keys: params.get_tx_keys };
        return await finish(wallet, transactions, { choice, intent, answerWith: asLists });
      },
    });
  },
  sweepDust: (params, { opened: { wallet }, allowance }) =>
    payOnce({ wallet, allowance }, askedBy(declared.transfers.sweepDust, params), {
      perform: async (_, intent) => {
        const transactions = await makeUnmixableSweep(wallet, planIn(intent));
        if (transactions.length === 0) return { ...noSets, ...noLists };
        const choice = { ...params, keys: params.get_tx_keys };
        return await finish(wallet, transactions, { choice, intent, answerWith: asLists });
      },
    }),
  async sweepAll(params, { opened: { wallet }, allowance, service }) {
    checkUnlockTime(params);
    return await payOnce({ wallet, allowance }, askedBy(declared.transfers.sweepAll, params), {
      prepare: () => resolveAddress(params.address, service),
      perform: async (address, intent) => {
        const sweep = sweepOf(wallet, { ...params, address });
        const addresses = wallet.state.accounts[sweep.account]?.addresses ?? [];
        const minors = params.subaddr_indices_all ? [...addresses.keys()] : sweep.minors;
        const transactions = await makeSweep(wallet, { ...sweep, minors }, { plan: planIn(intent) });
        const choice = { ...params, keys: params.get_tx_keys };
        return await finish(wallet, transactions, { choice, intent, answerWith: asLists });
      },
    });
  },
  async sweepSingle(params, { opened: { wallet }, allowance, service }) {
    checkUnlockTime(params);
    return await payOnce({ wallet, allowance }, askedBy(declared.transfers.sweepSingle, params), {
      prepare: () => resolveAddress(params.address, service),
      perform: async (address, intent) => {
        const sweep = sweepOf(wallet, { ...params, address });
        const output = namedOutput(wallet, params.key_image);
        const { major } = output.subaddress;
        const from = { plan: planIn(intent), inputs: [output] };
        const transactions = await makeSweep(wallet, { ...sweep, account: major }, from);
        const choice = { ...params, keys: params.get_tx_key || params.get_tx_keys };
        const answerWith = (finished: Finished) => ({ ...finished.described[0]!, ...asLists(finished) });
        return await finish(wallet, transactions, { choice, intent, answerWith });
      },
    });
  },
  relayTx: (params, { opened: { wallet }, allowance }) =>
    payOnce({ wallet, allowance }, askedBy(declared.transfers.relayTx, params), {
      perform: async (_, intent) => {
        const pending = parseMetadata(params.hex);
        const answer = { tx_hash: idsOf([pending])[0]! };
        await relayPending(wallet, pending, await intent.submission(answer, [answer.tx_hash]));
        return answer;
      },
    }),
  async getDefaultFeePriority(_, { opened: { wallet } }) {
    // A payment whose priority can't be chosen pays as one of the lowest.
    return { priority: (await adjustPriority(wallet, 0)) || QUIET_PRIORITY };
  },
  estimateTxSizeAndWeight: ({ n_inputs, n_outputs, ring_size, rct }) =>
    estimateSize({ inputs: n_inputs, outputs: n_outputs, ringSize: ring_size || RING_SIZE }, rct),
});
