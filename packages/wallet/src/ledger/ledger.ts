/** The state of a wallet with its look-up tables. */
import { toHex } from "@anulo/protocol";
import type {
  Account,
  NetworkName,
  OwnedOutput,
  SubaddressIndex,
  WalletSettings,
  WalletState,
} from "../state.ts";
import { type MapName, Touched } from "./touched.ts";

export type Ledger = {
  readonly state: WalletState;
  /** Indices in `state.outputs` by hex key image. */
  readonly byKeyImage: Map<string, number>;
  /** Indices in `state.outputs` by hex one-time key. */
  readonly byOneTimeKey: Map<string, number>;
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
    height: 1,
    recent: { offset: 1, ids: [] },
    outputs: [],
    incoming: [],
    pool: [],
    outgoing: new Map(),
    intents: [],
    txKeys: new Map(),
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
  return {
    state,
    byKeyImage: new Map(),
    byOneTimeKey: new Map(),
    intentPlaces: new Map(),
    touched: new Touched(),
  };
}

/** Creates an account with its first address, which gets the label. */
export function createAccount(label: string): Account {
  return { tag: "", addresses: [{ label }] };
}

/** Adds the output at an index to the look-up tables, by its one-time key and key image. */
export function indexOutput(
  { byKeyImage, byOneTimeKey }: Pick<Ledger, "byKeyImage" | "byOneTimeKey">,
  { oneTimeKey, keyImage }: OwnedOutput,
  place: number,
): void {
  byOneTimeKey.set(toHex(oneTimeKey), place);
  if (keyImage !== undefined) byKeyImage.set(toHex(keyImage), place);
}

/** Reverts `indexOutput`, except for entries that another output has replaced. */
export function unindexOutput(
  { byKeyImage, byOneTimeKey }: Pick<Ledger, "byKeyImage" | "byOneTimeKey">,
  { oneTimeKey, keyImage }: OwnedOutput,
  place: number,
): void {
  const [key, image] = [toHex(oneTimeKey), keyImage === undefined ? "" : toHex(keyImage)];
  if (byOneTimeKey.get(key) === place) byOneTimeKey.delete(key);
  if (byKeyImage.get(image) === place) byKeyImage.delete(image);
}

/** The owned output with a key image (hex). */
export function outputWithImage({ state, byKeyImage }: Ledger, keyImage: string): OwnedOutput | undefined {
  const place = byKeyImage.get(keyImage);
  return place === undefined ? undefined : state.outputs[place];
}

/** Finds the same output in order to change it, and marks it as changed. */
export function touchOutput(ledger: Ledger, keyImage: string): OwnedOutput | undefined {
  const place = ledger.byKeyImage.get(keyImage);
  if (place === undefined) return undefined;
  ledger.touched.item("outputs", place);
  return ledger.state.outputs[place];
}

/** Builds the look-up tables anew from the state. */
export function indexLedger({ state, byKeyImage, byOneTimeKey, intentPlaces }: Ledger): void {
  byKeyImage.clear();
  byOneTimeKey.clear();
  for (const [place, output] of state.outputs.entries())
    indexOutput({ byKeyImage, byOneTimeKey }, output, place);
  intentPlaces.clear();
  for (const [place, { key }] of state.intents.entries()) intentPlaces.set(key, place);
}

type EntryOf<M extends MapName> = WalletState[M] extends Map<string, infer V> ? V : never;

/** Puts entries into one of the state's maps, and marks them as changed. */
export function put<M extends MapName>(
  { state, touched }: Ledger,
  map: M,
  entries: Iterable<readonly [string, EntryOf<M>]>,
): void {
  const held = state[map] as Map<string, EntryOf<M>>;
  for (const [key, value] of entries) {
    touched.key(map, key);
    held.set(key, value);
  }
}

/** Overwrites the secrets in a state; the state must not be used afterwards. */
export function wipeSecrets({ txKeys, multisigNonces, intents }: WalletState): void {
  for (const secrets of [txKeys, multisigNonces])
    for (const list of secrets.values()) for (const secret of list) secret.fill(0);
  // Stored responses contain transaction keys if the caller requested them.
  for (const { outcome } of intents)
    if (outcome !== undefined && "answer" in outcome) outcome.answer?.fill(0);
}

/** The last address of each account that has received outputs. */
export function lastAddresses(
  outputs: readonly Pick<OwnedOutput, "subaddress">[],
): IterableIterator<SubaddressIndex> {
  const last = new Map<number, SubaddressIndex>();
  for (const { subaddress } of outputs)
    if (subaddress.minor >= (last.get(subaddress.major)?.minor ?? 0)) last.set(subaddress.major, subaddress);
  return last.values();
}
