/** The state of a wallet with its look-up tables. */
import { wipe } from "@anulo/crypto";
import { OutputBook } from "../outputs/output-book.ts";
import type { OwnedOutput, SubaddressIndex } from "../outputs/owned-output.ts";
import { RecentBlocks } from "../packed/block-ids.ts";
import { Payments } from "../packed/payments.ts";
import { Receipts } from "../packed/receipts.ts";
import { TxKeys } from "../packed/tx-keys.ts";
import type { Account, NetworkName, WalletSettings, WalletState } from "../state.ts";
import { type MapName, Touched } from "./touched.ts";

export type Ledger = {
  readonly state: WalletState;
  /** Indices in `state.intents` by key. */
  readonly intentPlaces: Map<string, number>;
  /** What has to be written where the state is stored in rows. */
  readonly touched: Touched;
};

/** Creates the ledger of an empty wallet, which scans from `settings.refreshFromHeight`. */
export function createLedger(network: NetworkName, settings: WalletSettings): Ledger {
  const state: WalletState = {
    network,
    changeCount: 0,
    eventSource: new Uint8Array(0),
    passedSeconds: 0,
    rescanTo: 0,
    reorganisedFrom: 0,
    height: 1,
    partId: new Uint8Array(0),
    recent: new RecentBlocks(),
    outputs: new OutputBook(),
    incoming: new Receipts(),
    pool: [],
    outgoing: new Payments(),
    intents: [],
    txKeys: new TxKeys(),
    accounts: [createAccount("Primary account")],
    accountTags: new Map(),
    notes: new Map(),
    attributes: new Map(),
    addressBook: [],
    settings: { ...settings },
    coldKeyImages: new Map(),
    requestedFrom: undefined,
    rings: new Map(),
    multisigNonces: new Map(),
    multisigInfos: new Map(),
    frozenBefore: [],
    takenOverCache: "",
    sinceCache: "nothing",
    background: undefined,
    lastBlockReward: 0n,
  };
  return { state, intentPlaces: new Map(), touched: new Touched() };
}

/** Creates an account with its first address, which gets the label. */
export function createAccount(label: string): Account {
  return { tag: "", addresses: [{ label }] };
}

/** Builds the look-up tables anew from the state. */
export function indexLedger({ state, intentPlaces }: Ledger): void {
  intentPlaces.clear();
  for (const [place, { key }] of state.intents.entries()) intentPlaces.set(key, place);
}

/** The state's maps; payments and transaction keys mark their changes themselves. */
type HeldName = MapName | "outgoing" | "txKeys";

type EntryOf<M extends HeldName> = WalletState[M] extends { get(key: string): infer V }
  ? NonNullable<V>
  : never;

/** Puts entries into one of the state's maps, and marks them as changed. */
export function put<M extends HeldName>(
  { state, touched }: Ledger,
  map: M,
  entries: Iterable<readonly [string, EntryOf<M>]>,
): void {
  const table = state[map] as unknown as { set(key: string, value: EntryOf<M>): unknown };
  for (const [key, value] of entries) {
    if (map !== "outgoing" && map !== "txKeys") touched.key(map, key);
    table.set(key, value);
  }
}

/** Overwrites the secrets in a state; the state must not be used afterwards. */
export function wipeSecrets({ txKeys, multisigNonces, intents }: WalletState): void {
  txKeys.clear();
  for (const list of multisigNonces.values()) wipe(...list);
  // Stored responses contain transaction keys if the caller requested them.
  for (const { outcome } of intents) if (outcome !== undefined && "answer" in outcome) wipe(outcome.answer);
}

/** The last address of each account that has received outputs. */
export function lastAddresses(
  outputs: Iterable<Pick<OwnedOutput, "subaddress">>,
): IterableIterator<SubaddressIndex> {
  const last = new Map<number, SubaddressIndex>();
  for (const { subaddress } of outputs)
    if (subaddress.minor >= (last.get(subaddress.major)?.minor ?? 0)) last.set(subaddress.major, subaddress);
  return last.values();
}
