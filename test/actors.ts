import {
  call,
  type DaemonOptions,
  type Exact,
  type ExactObject,
  type Maker,
  type Release,
  type RunningDaemon,
  type RunningWallet,
  realProgramsMissing,
  startDaemon,
  startWallet,
} from "@anulo/testkit";

/** Whose programs play. */
export type Side = "ours" | "real";

export const otherSide = { ours: "real", real: "ours" } as const;

type Dialect = "contract" | "upstream";

/** The release of the originals that play unless a test names another. */
export const usualRelease: Release = "today";

/** Whose program to start: for `ours` its dialect counts, for `real` its release. */
export function makerOf(side: Side, dialect: Dialect = "contract", release: Release = usualRelease): Maker {
  return side === "ours" ? { kind: "ours", dialect } : { kind: "real", release };
}

/** Options of a test that needs these releases: skipped, with the reason, where one is missing. */
export function needsReleases(...releases: Release[]): { readonly skip: string | false } {
  return { skip: realProgramsMissing(releases) ?? false };
}

/** The same for a test that plays with the usual release of the originals. */
export const needsRealPrograms = needsReleases(usualRelease);

/** Something a test has started and must end, whatever happens. */
export type Stoppable = { stop(): Promise<void> };

/**
 * Runs a test's body and then ends all it has started, last first. The original programs are today's, or those of
 * `release`.
 */
export async function onStage<T>(
  play: (stage: Stage) => Promise<T>,
  release: Release = usualRelease,
): Promise<T> {
  const started: Stoppable[] = [];
  const stage = createStage(started, release);
  try {
    return await play(stage);
  } finally {
    for (const program of started.reverse()) await program.stop();
  }
}

/** Where programs are started. */
export type Stage = {
  /** Ours speaks the default dialect unless told otherwise. */
  daemon(side: Side, dialect?: Dialect, options?: DaemonOptions): Promise<RunningDaemon>;
  /** Ours answers as the original does, so that the two can be compared field by field. */
  service(side: Side, daemonPort?: number): Promise<RunningWallet>;
  /** A wallet service of its own with the wallet of these 25 words restored in it from block 0. */
  wallet(side: Side, order: WalletOrder): Promise<WalletActor>;
};

export type WalletOrder = { readonly mnemonic: string; readonly daemonPort: number };

function createStage(started: Stoppable[], release: Release): Stage {
  const keep = <S extends Stoppable>(program: S): S => {
    started.push(program);
    return program;
  };
  const service: Stage["service"] = async (side, daemonPort) =>
    keep(
      await startWallet(makerOf(side, "upstream", release), daemonPort === undefined ? {} : { daemonPort }),
    );
  return {
    daemon: async (side, dialect = "contract", options = {}) =>
      keep(await startDaemon(makerOf(side, dialect, release), options)),
    service,
    wallet: async (side, { mnemonic, daemonPort }) => {
      const actor = actorOf(await service(side, daemonPort), mnemonic);
      const restored = await actor.call("restore_deterministic_wallet", {
        filename: "wallet",
        password: "",
        seed: mnemonic,
        restore_height: 0,
      });
      return { ...actor, address: String(restored.address) };
    },
  };
}

export type Destination = { readonly address: string; readonly amount: bigint };

/** A wallet behind a service. */
export type WalletActor = {
  readonly address: string;
  readonly mnemonic: string;
  readonly walletDir: string;
  call(method: string, params?: Exact): Promise<ExactObject>;
  /** Scans up to the newest block and the pool. */
  refresh(): Promise<void>;
  /** Pays and returns the transaction's id. */
  pay(destinations: readonly Destination[], more?: ExactObject): Promise<string>;
  /** Balance of account 0 after a refresh, atomic units. */
  balance(): Promise<{ readonly total: bigint; readonly unlocked: bigint }>;
};

function actorOf({ url, walletDir }: RunningWallet, mnemonic: string): WalletActor {
  const ask = (method: string, params: Exact = {}) => call(url, method, params);
  const refresh = async () => {
    await ask("refresh", {});
  };
  return {
    address: "",
    mnemonic,
    walletDir,
    call: ask,
    refresh,
    pay: async (destinations, more = {}) => {
      const { tx_hash } = await ask("transfer", { ...more, destinations: [...destinations] });
      return String(tx_hash);
    },
    balance: async () => {
      await refresh();
      const { balance, unlocked_balance } = await ask("get_balance", { account_index: 0 });
      return { total: bigintOf(balance), unlocked: bigintOf(unlocked_balance) };
    },
  };
}

/** An integer of an answer. */
export function bigintOf(value: Exact | undefined): bigint {
  if (typeof value === "number" || typeof value === "bigint") return BigInt(value);
  throw new Error(`not an integer: ${String(value)}`);
}

/** A list of objects in an answer; left out means empty. */
export function listOf(value: Exact | undefined): ExactObject[] {
  return (value ?? []) as ExactObject[];
}

/** Mines blocks to an address. */
export async function mine(daemon: RunningDaemon, blocks: number, address: string): Promise<void> {
  await call(daemon.url, "generateblocks", { amount_of_blocks: blocks, wallet_address: address });
}
