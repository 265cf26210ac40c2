import type { DaemonOptions } from "../programs/servers.ts";
import type { Siege } from "./siege.ts";

/** Who attacks: a stranger on the network, a caller of the RPC, or what is below the node (disk, clock, limits). */
export type Attacker = "peer" | "caller" | "system";

/** An attack on a running node beside which an honest peer works. The limits in `judge.ts` hold for all of them. */
export interface Attack {
  readonly name: string;
  readonly by: Attacker;
  /** What is sent or done, in a sentence. */
  readonly does: string;
  /** The class of attacks it stands for. */
  readonly stands: string;
  /** True where what is sent breaks the protocol, so that being slow is not enough: the attacker has to be gone. */
  readonly mustGo?: boolean;
  /** How the node is started, where it matters. */
  readonly target?: Pick<DaemonOptions, "extra" | "env" | "tls" | "nodeFlags" | "shellLimit">;
  /** True where the node calls an attacker (`siege.listener`), not only the other way round. */
  readonly isCalled?: boolean;
  /** How long the node is watched after the attack, in seconds. */
  readonly watchSeconds?: number;
  /** Attacks; throws an error where something that must stay true beside the common limits does not. */
  run(siege: Siege): Promise<void>;
}

/** An attack that starts and ends programs by itself, and checks by itself; it throws where something is lost. */
export interface Ordeal {
  readonly name: string;
  readonly by: "system";
  readonly does: string;
  readonly stands: string;
  endure(options: { readonly rounds: number; readonly isShort: boolean }): Promise<string>;
}

export const isOrdeal = (attack: Attack | Ordeal): attack is Ordeal => "endure" in attack;
