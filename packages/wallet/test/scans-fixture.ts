/** Scans whose thread is the test. */
import { setImmediate } from "node:timers/promises";
import type { WalletChange } from "../src/changes.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { createLedger, type Ledger } from "../src/ledger/ledger.ts";
import { createRuntime } from "../src/runtime.ts";
import type { FromWorker, ScanTask, ToWorker } from "../src/scan/messages.ts";
import type { ScanClient } from "../src/scan/scan-threads.ts";
import { Turns } from "../src/turns.ts";
import { WalletScans } from "../src/wallet-scans.ts";
import { seededRandom } from "./transfer-fixture.ts";

const keys = createKeys(seededRandom("scans of a test"));

export const newLedger = (): Ledger => createLedger("regtest", { seedLanguage: "", refreshFromHeight: 0 });

type ScansOptions = {
  readonly skipsCoinbase: boolean;
  readonly onLongScan?: (isUnderWay: boolean) => void;
};

/** A wallet's scans; `commit` applies its changes, and resolves once they are written. */
export function createScans(
  ledger: Ledger,
  commit: (change: WalletChange) => Promise<void>,
  { onLongScan, ...preferences }: ScansOptions = { skipsCoinbase: false },
) {
  const sent: ToWorker[] = [];
  let client: ScanClient | undefined;
  const changes = new Map<FromWorker, WalletChange>();
  const scanThreads = {
    turns: new Turns(),
    open(opened: ScanClient) {
      client = opened;
      return { send: (message: ToWorker) => sent.push(message), release: () => undefined };
    },
    changeOf: (message: FromWorker) => changes.get(message),
    scanMessage: (message: object) => ({ kind: "scan", ...message }),
  };
  const wallet = {
    signer: { scanningKeys: keys },
    daemon: { address: { url: "" } },
    preferences,
    runtime: { ...createRuntime({ concurrency: 0, clock: () => 0, onLongScan }), scanThreads },
    commit,
  };
  const scans = new WalletScans(wallet as never, { ledger });
  return {
    ...{ scans, sent },
    /** Blocks that the thread has found. */
    sendBlocks(change: WalletChange, targetHeight = 100): void {
      const message = { kind: "blocks", change: new Uint8Array(), targetHeight } as const;
      changes.set(message, change);
      client!.receive(message);
    },
    receive: (message: FromWorker) => client!.receive(message),
    endThread: () => client!.onEnd(new Error("the scan thread ended")),
    /** Resolves with the next scan that is asked for. */
    async whenScanning(): Promise<ScanTask> {
      for (;;) {
        const scan = sent.find((message) => message.kind === "scan");
        sent.length = 0;
        if (scan !== undefined) return scan.task;
        await setImmediate();
      }
    },
  };
}
