import { type Act, acts } from "./acts.ts";
import type { RelayPoint } from "./go-between.ts";
import { multisigActs } from "./multisig-acts.ts";
import { onceActs } from "./once-acts.ts";
import type { FilePoint } from "./points.ts";

/** Around a file operation, around a transaction's way to the node, or as soon as the answer is there. */
export type Place = FilePoint | { readonly relay: RelayPoint } | "answered";

const at = (
  operation: FilePoint["operation"],
  file: string,
  when: FilePoint["when"],
  nth = 1,
): FilePoint => ({ operation, file, when, nth });

const journal = ".anulo";
const afterSync = at("sync", journal, "after");
const beforeRelay = { relay: "before" } as const;
const afterRelay = { relay: "after" } as const;

const { transfer, relayTx, submitTransfer, scan, reorganise, compact, close, store, restore } = acts;
const { make, exportInfo, importInfo, propose, sign, submitMultisig } = multisigActs;

/** Where a wallet service is killed. */
export const namedPoints: { readonly [name: string]: { readonly act: Act; readonly place: Place } } = {
  "transfer: its rings half written": { act: transfer, place: at("write", journal, "half", 2) },
  "transfer: signed, nothing kept": { act: transfer, place: at("write", journal, "before", 3) },
  "transfer: half of it written": { act: transfer, place: at("write", journal, "half", 4) },
  "transfer: written, not flushed": { act: transfer, place: at("sync", journal, "before", 2) },
  "transfer: kept, not sent": { act: transfer, place: beforeRelay },
  "transfer: sent, the node's answer not heard": { act: transfer, place: afterRelay },
  "transfer: taken by the node, not kept as such": {
    act: transfer,
    place: at("write", journal, "before", 5),
  },
  "transfer: all kept, not answered": { act: transfer, place: at("sync", journal, "after", 3) },
  "transfer: answered": { act: transfer, place: "answered" },
  "transfer with a key: not planned": { act: onceActs.transfer, place: at("write", journal, "before", 3) },
  "transfer with a key: half planned": { act: onceActs.transfer, place: at("write", journal, "half", 4) },
  "transfer with a key: planned, not signed": {
    act: onceActs.transfer,
    place: at("sync", journal, "after", 2),
  },
  "transfer with a key: signed, nothing kept": {
    act: onceActs.transfer,
    place: at("write", journal, "before", 5),
  },
  "transfer with a key: signed, half written": {
    act: onceActs.transfer,
    place: at("write", journal, "half", 6),
  },
  "transfer with a key: kept, not sent": { act: onceActs.transfer, place: beforeRelay },
  "transfer with a key: sent, the node's answer not heard": { act: onceActs.transfer, place: afterRelay },
  "transfer with a key: taken by the node, not kept as such": {
    act: onceActs.transfer,
    place: at("write", journal, "before", 7),
  },
  "transfer with a key: all kept, not answered": {
    act: onceActs.transfer,
    place: at("sync", journal, "after", 4),
  },
  "transfer with a key: answered": { act: onceActs.transfer, place: "answered" },
  "transfer_split with a key: kept, none sent": { act: onceActs.transferSplit, place: beforeRelay },
  "transfer_split with a key: one sent, its answer not heard": {
    act: onceActs.transferSplit,
    place: afterRelay,
  },
  "transfer_split with a key: one taken, the other not sent": {
    act: onceActs.transferSplit,
    place: at("sync", journal, "after", 4),
  },
  "relay_tx: kept, not sent": { act: relayTx, place: beforeRelay },
  "relay_tx: sent, the node's answer not heard": { act: relayTx, place: afterRelay },
  "submit_transfer: kept, not sent": { act: submitTransfer, place: beforeRelay },
  "submit_transfer: sent, the node's answer not heard": { act: submitTransfer, place: afterRelay },
  "scan: a batch half written": { act: scan, place: at("write", journal, "half") },
  "scan: a batch kept, not answered": { act: scan, place: afterSync },
  "reorganisation: half written": { act: reorganise, place: at("write", journal, "half") },
  "reorganisation: kept, not answered": { act: reorganise, place: afterSync },
  "compaction: the new picture half written": { act: compact, place: at("write", ".anulo.new", "half") },
  "compaction: the new picture not in its place": { act: compact, place: at("rename", journal, "before") },
  "compaction: the new picture in its place": { act: compact, place: at("rename", journal, "after") },
  "close_wallet: closed, the lock still there": { act: close, place: at("remove", ".lock", "before") },
  "close_wallet: the cache half written": { act: close, place: at("write", ".anulo.cache", "half") },
  "close_wallet: the cache not in its place": { act: close, place: at("rename", "/alice", "before") },
  "close_wallet: the cache in its place, not noted": { act: close, place: at("rename", "/alice", "after") },
  "store: the cache not in its place": { act: store, place: at("rename", "/alice", "before") },
  "store: the cache noted, not answered": { act: store, place: afterSync },
  "store: answered": { act: store, place: "answered" },
  "restore: the keys file half written": { act: restore, place: at("write", ".keys.new", "half") },
  "restore: keys, no journal": { act: restore, place: at("rename", ".keys", "after") },
  "restore: the journal not in its place": { act: restore, place: at("rename", journal, "before") },
  "change_wallet_password: half written": {
    act: acts.changePassword,
    place: at("write", ".keys.new", "half"),
  },
  "change_wallet_password: not in its place": {
    act: acts.changePassword,
    place: at("rename", ".keys", "before"),
  },
  "change_wallet_password: in its place": { act: acts.changePassword, place: at("rename", ".keys", "after") },
  "make_multisig: the next journal half written": {
    act: make,
    place: at("write", ".anulo.next.new", "half"),
  },
  "make_multisig: the next journal there, the old keys": {
    act: make,
    place: at("rename", ".keys", "before"),
  },
  "make_multisig: the new keys, the old journal": { act: make, place: at("rename", ".keys", "after") },
  "export_multisig_info: nonces kept, not told": { act: exportInfo, place: afterSync },
  "import_multisig_info: half written": { act: importInfo, place: at("write", journal, "half") },
  "import_multisig_info: kept, not answered": { act: importInfo, place: afterSync },
  "transfer of signers: nonces used, not answered": { act: propose, place: afterSync },
  "sign_multisig: nonces not yet used": { act: sign, place: at("write", journal, "before") },
  "sign_multisig: nonces used, not answered": { act: sign, place: afterSync },
  "submit_multisig: kept, not sent": { act: submitMultisig, place: beforeRelay },
  "submit_multisig: sent, the node's answer not heard": { act: submitMultisig, place: afterRelay },
};
