/** The state of a wallet with its look-up tables. */
import { toHex } from "@anulo/protocol";
import type { Account, NetworkName, OwnedOutput, WalletSettings, WalletState } from "../state.ts";

export type Ledger = {
  readonly state: WalletState;
  /** Owned outputs by hex key image. */
  readonly byKeyImage: Map<string, OwnedOutput>;
  /** Owned outputs by hex one-time key. */
  readonly byOneTimeKey: Map<string, OwnedOutput>;
  /** Places in `state.intents` by key. */
  readonly intentPlaces: Map<string, number>;
};

/** An empty wallet that will scan from `settings.refreshFromHeight`. */
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
  return { state, byKeyImage: new Map(), byOneTimeKey: new Map(), intentPlaces: new Map() };
}

/** An account with its first address, which gets the label. */
export function createAccount(label: string): Account {
  return { tag: "", addresses: [{ label }] };
}

/** Builds the look-up tables anew from the state. */
export function indexLedger({ state, byKeyImage, byOneTimeKey, intentPlaces }: Ledger): void {
  byKeyImage.clear();
  byOneTimeKey.clear();
  for (const output of state.outputs) {
    byOneTimeKey.set(toHex(output.oneTimeKey), output);
    if (output.keyImage !== undefined) byKeyImage.set(toHex(output.keyImage), output);
  }
  intentPlaces.clear();
  for (const [place, { key }] of state.intents.entries()) intentPlaces.set(key, place);
}
