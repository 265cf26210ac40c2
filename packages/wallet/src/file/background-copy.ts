/** What a background wallet receives from its main wallet, and what the main wallet imports from it. Pure. */
import { isDeepStrictEqual } from "node:util";
import type { FoundInBackground } from "../actions/background-scan.ts";
import { OutputBook } from "../outputs/output-book.ts";
import { Payments } from "../packed/payments.ts";
import { TxKeys } from "../packed/tx-keys.ts";
import type { OutgoingPayment, ScannedTransaction, ScanSettings, WalletState } from "../state.ts";

/**
 * The state without data that only the owner has: transaction keys, destinations, notes, labels, frozen outputs.
 * Source: wallet2.cpp `clear_user_data`.
 */
export function backgroundCopy(state: Readonly<WalletState>, settings: ScanSettings): WalletState {
  const { height, accounts, outgoing } = state;
  return {
    ...state,
    recent: state.recent.copy(),
    outputs: thawed(state),
    outgoing: Payments.of(withoutOwn(outgoing)),
    accounts: accounts.map(({ addresses }, major) => ({
      tag: "",
      addresses: addresses.map((_, minor) => ({
        label: minor > 0 ? "" : major === 0 ? "Primary account" : "Untitled account",
      })),
    })),
    intents: [],
    txKeys: new TxKeys(),
    accountTags: new Map(),
    notes: new Map(),
    attributes: new Map(),
    addressBook: [],
    coldKeyImages: new Map(),
    rings: new Map(),
    frozenBefore: [],
    takenOverCache: "",
    background: { fromHeight: height, transactions: [], settings },
  };
}

function thawed({ outputs, height }: Readonly<WalletState>): OutputBook {
  const copy = new OutputBook();
  copy.pass(height);
  for (const output of outputs) copy.push(output.frozen ? { ...output, frozen: false } : output);
  return copy;
}

function* withoutOwn(payments: Payments): Generator<[string, OutgoingPayment]> {
  for (const [id, payment] of payments) yield [id, { ...payment, blob: undefined, destinations: [] }];
}

/**
 * What a background wallet has found for a wallet; undefined if that has scanned as far itself, if the background scan
 * began above its height, or if its settings differ. Source: wallet2.cpp `process_background_cache`.
 */
export function foundFor(
  { height, recent }: Readonly<WalletState>,
  settings: ScanSettings,
  state: Readonly<WalletState>,
): FoundInBackground | undefined {
  const { background } = state;
  if (background === undefined || !isWhole(state)) return undefined;
  if (state.height < height || background.fromHeight > height) return undefined;
  if (state.height === height && isDeepStrictEqual(state.recent.last, recent.last)) return undefined;
  const before = background.settings;
  const isSame =
    before.refreshFromHeight === settings.refreshFromHeight &&
    before.accounts === settings.accounts &&
    before.addresses === settings.addresses &&
    before.skipsCoinbase === settings.skipsCoinbase;
  return isSame ? { ...state, background } : undefined;
}

/**
 * Whether the state is one that this program writes: anyone with the background wallet's password can write its files.
 */
function isWhole({ height, recent, lastBlockReward, background }: Readonly<WalletState>): boolean {
  const { fromHeight, transactions } = background!;
  let last = fromHeight;
  const isNext = (transaction: ScannedTransaction) => {
    const isLater = isCount(transaction.height) && transaction.height >= last && transaction.height < height;
    last = transaction.height;
    return isLater && isTransaction(transaction);
  };
  return (
    [height, fromHeight].every(isCount) &&
    recent.end === height &&
    isAmount(lastBlockReward) &&
    transactions.every(isNext)
  );
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isKey = (value: unknown): boolean => value instanceof Uint8Array && value.length === 32;
const isAmount = (value: unknown): boolean => typeof value === "bigint" && value >= 0n && value < 1n << 64n;

function isTransaction(it: ScannedTransaction): boolean {
  return (
    isKey(it.txHash) &&
    isKey(it.paymentId) &&
    [it.timestamp, it.txSize].every(isCount) &&
    [it.unlockTime, it.publicAmountOut].every(isAmount) &&
    (it.fee === undefined || isAmount(it.fee)) &&
    typeof it.coinbase === "boolean" &&
    it.inputs.every(({ keyImage, amount }) => isKey(keyImage) && isAmount(amount)) &&
    it.received.every(
      (output) =>
        [output.oneTimeKey, output.txPublicKey, output.mask].every(isKey) &&
        (output.keyImage === undefined || isKey(output.keyImage)) &&
        [output.amount, output.globalIndex].every(isAmount) &&
        [output.outputIndex, output.subaddress.major, output.subaddress.minor].every(isCount) &&
        typeof output.rct === "boolean",
    )
  );
}
