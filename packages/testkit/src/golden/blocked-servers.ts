import type { GoldenGroup, ServerName } from "./recording.ts";
import type { StepResult } from "./result.ts";

/** Calls after which a wallet is another, or knows or owns something else. */
const changing =
  /^((make|finalize|submit)_multisig|exchange_multisig_keys|import_\w+|submit_transfer|transfer|transfer_split|sweep_\w+)$/;

/** Recordings of one long transaction between several wallets, where each step builds on those before. */
const connected: readonly GoldenGroup[] = ["wallet_cold", "wallet_multisig"];

/** Calls after which another wallet is open. */
const opening = /^(create_wallet|open_wallet|restore_deterministic_wallet|generate_from_keys)$/;

/**
 * The wallet services whose open wallet is not the recorded one, since a call that would have changed it is not
 * done yet: until another wallet is opened, what they answer otherwise is not done yet either.
 */
export class BlockedServers {
  readonly #servers = new Set<ServerName>();
  readonly #isConnected: boolean;

  constructor(group: GoldenGroup) {
    this.#isConnected = connected.includes(group);
  }

  /** The result as it counts; to be called for every step, in order. */
  excuse(result: StepResult): StepResult {
    const { step, method, outcome } = result;
    if (this.#isConnected && outcome === "notYet" && changing.test(method)) this.#servers.add(step.to);
    if (outcome === "agreeing" && opening.test(method)) this.#servers.delete(step.to);
    return outcome === "differing" && this.#servers.has(step.to) ? { ...result, outcome: "notYet" } : result;
  }
}
