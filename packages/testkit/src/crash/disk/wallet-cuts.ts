/** A wallet service on a disk that forgets: at any cut its wallets open again and have all it acknowledged. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { ExactObject } from "@anulo/devnet";
import { CallFailed, call } from "@anulo/devnet";
import type { WalletServiceOptions } from "@anulo/wallet";
import type { Chance } from "../chance.ts";
import { type Ask, startNodeInProcess, startWalletsInProcess } from "../in-process.ts";
import { wordsOf } from "../wallet/world.ts";
import { type Cut, CutTaker } from "./cuts.ts";
import { ForgetfulFolders } from "./forgetful-folders.ts";
import type { Hooks, NodeCutsOptions } from "./node-cuts.ts";

/** What is known of a wallet by its caller. */
interface Known {
  /** The one acknowledged last, and one that may have taken its place. */
  readonly passwords: readonly string[];
  /** Each with the value acknowledged last, and one that may have taken its place. */
  readonly attributes: ReadonlyMap<string, readonly string[]>;
  readonly labels: readonly string[];
  readonly payments: readonly string[];
}

interface Expected {
  /** Name of the wallet that was open. */
  readonly open: string;
  readonly wallets: ReadonlyMap<string, Known>;
}

/** Share of the wallets that were closed which are looked at all the same. */
const CLOSED_CHECKED = 0.2;

const ATTRIBUTES = 8;
/** Some attributes are this long, so that the journal is soon written anew. */
const LONG = 40_000;
const MAX_WALLETS = 3;
/** Payments looked up after a cut, beside the newest. */
const SAMPLE = 3;
const fresh: Known = { passwords: [""], attributes: new Map(), labels: [], payments: [] };

class Victim {
  readonly cuts: CutTaker<Expected>;
  readonly disk: ForgetfulFolders;
  readonly #chance: Chance;
  readonly #ask: Ask;
  readonly #mine: () => Promise<void>;
  readonly #wallets = new Map<string, Known>();
  #open = "";
  #counter = 0;

  constructor(parts: {
    disk: ForgetfulFolders;
    chance: Chance;
    count: number;
    ask: Ask;
    mine: () => Promise<void>;
  }) {
    const { disk, chance, count, ask, mine } = parts;
    [this.disk, this.#chance, this.#ask, this.#mine] = [disk, chance, ask, mine];
    this.cuts = new CutTaker({ disk, chance, count, expect: () => this.#expected() });
  }

  #expected(): Expected {
    return { open: this.#open, wallets: new Map(this.#wallets) };
  }

  #note(change: Partial<Known>): void {
    this.#wallets.set(this.#open, { ...this.#now, ...change });
  }

  get #now(): Known {
    return this.#wallets.get(this.#open)!;
  }

  async begin(words: string): Promise<void> {
    await this.#ask("restore_deterministic_wallet", { filename: "payer", seed: words });
    this.#open = "payer";
    this.#note(fresh);
    this.cuts.offer(true);
  }

  /** One call that changes something, until it is acknowledged. */
  async work(): Promise<void> {
    const { happens, pick } = this.#chance;
    const act = pick([
      () => this.#setAttribute(),
      () => this.#setAttribute(),
      () => this.#addLabel(),
      () => this.#pay(),
      () => this.#changePassword(),
      () => this.#reopen(),
      () => this.#create(),
      async () => void (await this.#ask("store")),
      () => this.#scan(),
    ]);
    await act();
    this.cuts.offer(happens(0.5));
  }

  async #setAttribute(): Promise<void> {
    const key = `key ${this.#chance.between(1, ATTRIBUTES)}`;
    const value = `${++this.#counter} `.repeat(this.#chance.happens(0.3) ? LONG / 8 : 1);
    const before = this.#now.attributes.get(key) ?? [""];
    const set = (values: readonly string[]) =>
      this.#note({ attributes: new Map([...this.#now.attributes, [key, values]]) });
    set([...before, value]);
    await this.#ask("set_attribute", { key, value });
    set([value]);
  }

  async #addLabel(): Promise<void> {
    const label = `label ${++this.#counter}`;
    await this.#ask("create_address", { label });
    this.#note({ labels: [...this.#now.labels, label] });
  }

  async #changePassword(): Promise<void> {
    const [old] = this.#now.passwords as [string];
    const password = `password ${++this.#counter}`;
    this.#note({ passwords: [old, password] });
    await this.#ask("change_wallet_password", { old_password: old, new_password: password });
    this.#note({ passwords: [password] });
  }

  async #pay(): Promise<void> {
    await this.#switchTo("payer");
    await this.#ask("refresh");
    const { address } = await this.#ask("get_address");
    const destinations = [{ address: String(address), amount: 1_000_000_000 + this.#counter }];
    try {
      const { tx_hash } = await this.#ask("transfer", { destinations, get_tx_key: true });
      this.#note({ payments: [...this.#now.payments, String(tx_hash)] });
    } catch (error) {
      if (!(error instanceof CallFailed)) throw error;
      await this.#mine();
    }
  }

  async #scan(): Promise<void> {
    await this.#mine();
    await this.#ask("refresh");
  }

  async #switchTo(name: string): Promise<void> {
    if (this.#open === name) return;
    await this.#ask("close_wallet");
    this.#open = name;
    await this.#ask("open_wallet", { filename: name, password: this.#now.passwords[0]! });
  }

  async #reopen(): Promise<void> {
    await this.#ask("close_wallet");
    this.#open = this.#chance.pick([...this.#wallets.keys()]);
    await this.#ask("open_wallet", { filename: this.#open, password: this.#now.passwords[0]! });
  }

  async #create(): Promise<void> {
    if (this.#wallets.size >= MAX_WALLETS) return;
    const filename = `wallet-${++this.#counter}`;
    const password = `secret ${this.#counter}`;
    await this.#ask("create_wallet", { filename, password, language: "English" });
    this.#open = filename;
    this.#note({ ...fresh, passwords: [password] });
  }
}

async function opens(ask: Ask, filename: string, passwords: readonly string[]): Promise<void> {
  const errors: string[] = [];
  for (const password of passwords) {
    try {
      return void (await ask("open_wallet", { filename, password }));
    } catch (error) {
      errors.push(String(error));
    }
  }
  throw new Error(errors.join("; "));
}

async function checkWallet(ask: Ask, expected: Known, chance: Chance): Promise<void> {
  for (const [key, values] of expected.attributes) {
    const { value } = await ask("get_attribute", { key }).catch((): ExactObject => ({ value: "" }));
    if (!values.includes(String(value))) throw new Error(`${key} is "${String(value).slice(0, 20)}"`);
  }
  const { addresses } = await ask("get_address");
  const labels = (addresses as { label: string }[]).slice(1).map(({ label }) => label);
  const lost = expected.labels.find((label, i) => labels[i] !== label);
  if (lost !== undefined) throw new Error(`${lost} is gone`);
  const { payments } = expected;
  if (payments.length === 0) return;
  const sample = Array.from({ length: SAMPLE }, () => chance.pick(payments));
  for (const txid of new Set([payments.at(-1)!, ...sample])) {
    await ask("get_tx_key", { txid });
    await ask("get_transfer_by_txid", { txid });
  }
}

interface Opening {
  readonly folder: string;
  /** Starts a service on the folder. */
  readonly serve: () => Promise<{ readonly ask: Ask; stop(): Promise<void> }>;
  readonly chance: Chance;
}

/** Opens what a cut has left with another service. Throws for what is missing. */
async function openCut(
  { kind, image, expected }: Cut<Expected>,
  { folder, serve, chance }: Opening,
): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [name, bytes] of image) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), bytes);
  }
  const failed = (what: string, error: unknown) =>
    new Error(`${kind}, ${what}: ${String(error)}; see ${folder}`, { cause: error });
  const { ask, stop } = await serve().catch((error: unknown) => {
    throw failed("the service", error);
  });
  try {
    for (const [filename, facts] of expected.wallets) {
      if (filename !== expected.open && !chance.happens(CLOSED_CHECKED)) continue;
      try {
        await opens(ask, filename, facts.passwords);
        await checkWallet(ask, facts, chance);
        await ask("set_attribute", { key: "afterwards", value: "written" });
        await ask("close_wallet");
      } catch (error) {
        throw failed(filename, error);
      }
    }
  } finally {
    await stop();
  }
}

/** As the program names the folder and the database of a folder's own store. */
const STORE_FOLDER = ".anulo-store";
const STORE_FILE = "wallets.mdb";

type Engine = Parameters<NonNullable<NonNullable<WalletServiceOptions["store"]>["watch"]>>[0];

/** Tells of each commit of a database, and offers moments during it: another thread writes it meanwhile. */
function watchCommits(
  engine: Engine,
  { onCommit, onMoment }: { onCommit(): void; onMoment(): void },
): Engine {
  const around = async <T>(commit: Promise<T>): Promise<T> => {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    void commit.then(over, over);
    while (!isOver) {
      onMoment();
      await setImmediate();
    }
    const result = await commit;
    onCommit();
    onMoment();
    return result;
  };
  const { apply, fence } = engine;
  return Object.assign(engine, {
    apply: (...args: Parameters<typeof apply>) => around(apply(...args)),
    fence: (...args: Parameters<typeof fence>) => around(fence(...args)),
  });
}

/** Lets a wallet service work, and checks each cut. Rejects at the first that lost something. */
export async function runWalletCuts(options: NodeCutsOptions, hooks: Hooks): Promise<number> {
  const { folder, chance, count, onProgress } = options;
  const { url: nodeUrl } = await startNodeInProcess();
  const watched = mkdtempSync(join(folder, "wallets-"));
  const cutFolder = join(folder, "cut");
  // A lock names a process that is gone after a loss of power; its text says so or, where it is torn, costs seconds.
  const disk = new ForgetfulFolders(watched, [STORE_FOLDER], /\.lock$|-lock$/);
  let victim: Victim | undefined;
  const onMoment = () => victim?.cuts.offer();
  hooks.beginSync = (file) => disk.beginSync(file);
  hooks.onOperation = onMoment;
  const onCommit = () => disk.settled(STORE_FOLDER, STORE_FILE);
  const watch = (engine: Engine) => watchCommits(engine, { onCommit, onMoment });
  const { ask } = await startWalletsInProcess(watched, nodeUrl, watch);
  let address = "";
  const mine = async () =>
    void (await call(nodeUrl, "generateblocks", { amount_of_blocks: 5, wallet_address: address }));
  victim = new Victim({ disk, chance, count, ask, mine });
  await victim.begin(wordsOf("payer"));
  address = String((await ask("get_address")).address);
  await call(nodeUrl, "generateblocks", { amount_of_blocks: 120, wallet_address: address });
  let cuts = 0;
  const serve = () => startWalletsInProcess(cutFolder, nodeUrl);
  while (!victim.cuts.isDone) {
    await victim.work();
    await victim.cuts.check(async (cut) => {
      await openCut(cut, { folder: cutFolder, serve, chance });
      onProgress(++cuts);
    });
  }
  return cuts;
}
