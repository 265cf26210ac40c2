import { hasTestStore } from "../../programs/test-store.ts";
import { acts } from "./acts.ts";
import { namedPoints } from "./named-points.ts";
import { demand, Stage } from "./stage.ts";
import { createWorld, type World, wordsOf } from "./world.ts";

export type WalletCrashOptions = {
  /** Of each named point. */
  readonly rounds: number;
  /** Which points, by name; left out, all. */
  readonly only?: (name: string) => boolean;
  /** Told after all rounds of a point. */
  readonly onPoint?: (name: string) => void;
};

export type WalletCrashReport = { readonly points: number; readonly kills: number };

/** Only journals are written anew, as one. */
const isReached = (name: string): boolean => namedPoints[name]!.act !== acts.compact || !hasTestStore();

/** Makes the wallets, and gives each of them outputs that can be spent. */
async function setTheStage(world: World): Promise<Stage> {
  const stage = new Stage(world, { alice: "", view: "", shared: "" });
  await stage.revive();
  const { ask } = stage;
  const restored = { seed: wordsOf("alice"), filename: "alice" };
  const alice = String((await ask("restore_deterministic_wallet", restored)).address);
  await world.cold("get_height");
  const [{ address }, { key }] = await Promise.all([
    world.cold("get_address"),
    world.cold("query_key", { key_type: "view_key" }),
  ]);
  const view = String(address);
  await ask("generate_from_keys", { filename: "view", address: view, viewkey: String(key) });
  const shared = await shareWallet(stage);
  const filled = new Stage(world, { alice, view, shared });
  await world.mine(30, view);
  await world.mine(30, shared);
  await world.mine(90, alice);
  await stage.stop();
  await filled.revive();
  return filled;
}

async function shareWallet({ ask, world: { signer } }: Stage): Promise<string> {
  await ask("create_wallet", { filename: "shared", language: "English" });
  await signer("create_wallet", { filename: "shared-other", language: "English" });
  const [own, other] = [await ask("prepare_multisig"), await signer("prepare_multisig")];
  const join = { threshold: 2, password: "" };
  await signer("make_multisig", { ...join, multisig_info: [String(own.multisig_info)] });
  const response = await ask("make_multisig", { ...join, multisig_info: [String(other.multisig_info)] });
  return String(response.address);
}

/** What is acknowledged just before must be there afterwards. */
async function acknowledge(stage: Stage): Promise<string> {
  await stage.open("alice");
  const note = `round ${stage.round}`;
  await stage.ask("create_address", { label: note });
  await stage.ask("set_attribute", { key: "note", value: note });
  return note;
}

async function checkAcknowledged(stage: Stage, note: string): Promise<void> {
  await stage.open("alice");
  const { value } = await stage.ask("get_attribute", { key: "note" });
  const { addresses } = await stage.ask("get_address");
  const labels = (addresses as { label: string }[]).map(({ label }) => label);
  demand(value === note && labels.at(-1) === note, `${note} was acknowledged and is gone`);
}

async function playRound(stage: Stage, name: string): Promise<void> {
  const { act, place } = namedPoints[name]!;
  await stage.revive();
  const note = await acknowledge(stage);
  await act.prepare(stage);
  const { victim } = stage;
  if (place !== "answered" && "relay" in place) {
    stage.world.goBetween.arm(place.relay, () => void victim.kill());
  } else if (place !== "answered") await victim.arm(place);
  const hasAnswered = await act.work(stage).then(
    () => true,
    (error: unknown) => {
      if (error instanceof Error && error.name === "CallFailed") throw error;
      return false;
    },
  );
  if (place === "answered") await victim.kill();
  demand(hasAnswered === (place === "answered"), "the point was not reached");
  await victim.kill();
  await stage.revive();
  await act.check(stage);
  await checkAcknowledged(stage, note);
}

/**
 * Kills our wallet service at every named point: it must open its wallets again by itself, have all it acknowledged
 * and every transaction key, and nothing may be paid twice. Rejects at the first failure.
 */
export async function runWalletCrashRounds(options: WalletCrashOptions): Promise<WalletCrashReport> {
  const { rounds, only = () => true, onPoint = () => {} } = options;
  const names = Object.keys(namedPoints).filter((name) => only(name) && isReached(name));
  const world = await createWorld();
  let stage: Stage | undefined;
  let kills = 0;
  try {
    stage = await setTheStage(world);
    for (const name of names) {
      for (let i = 0; i < rounds; i++) {
        stage.round++;
        await playRound(stage, name).catch((error: unknown) => {
          throw new Error(`${name}, round ${i + 1}: ${String(error)}`, { cause: error });
        });
        kills++;
      }
      onPoint(name);
    }
    return { points: names.length, kills };
  } finally {
    await stage?.stop();
    await world.stop();
  }
}
