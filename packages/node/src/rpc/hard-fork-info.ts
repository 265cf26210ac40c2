import { hardForkAt, type Network } from "@anulo/protocol";
import type { NodeContext } from "./context.ts";

/** Blocks whose votes count. Source: hardfork.h DEFAULT_WINDOW_SIZE. */
const VOTING_WINDOW = 10_080;
const YEAR = 31_557_600;

/** 0: a fork this program does not know is likely; 1: an update is due; 2: all is well. Source: hardfork.cpp `get_state`. */
function stateOf({ hardForks }: Network, now: number): number {
  if (hardForks.length <= 1) return 2;
  const age = now - hardForks.at(-1)!.time;
  if (age >= YEAR) return 0;
  return age >= YEAR / 2 ? 1 : 2;
}

/** First version above the current one, or the newest. Source: hardfork.cpp `get_next_version`. */
function nextVersion({ hardForks }: Network, height: number): number {
  const current = hardForks.findLastIndex((fork) => height >= fork.height);
  return (hardForks[current + 1] ?? hardForks.at(-1)!).version;
}

/** First height of a fork with at least these rules; 2^64 - 1 where there is none. */
function earliestHeight({ hardForks }: Network, version: number): bigint {
  const fork = hardForks.find((candidate) => candidate.version >= version);
  return fork === undefined ? 2n ** 64n - 1n : BigInt(fork.height);
}

/** How a hard fork stands; blocks vote with their minor version. Source: hardfork.cpp `get_voting_info`. */
export function hardForkInfo(params: { version: number }, { parts }: NodeContext) {
  const { store, network, now } = parts;
  const height = store.read.height();
  const current = hardForkAt(network, height);
  const version = params.version > 0 ? params.version : nextVersion(network, height);
  const window = [...store.read.blockInfoColumn("minorVersion", height - VOTING_WINDOW, height)];
  const newest = network.hardForks.at(-1)!.version;
  const votes = window.filter((minorVersion) => Math.min(newest, Math.max(1, minorVersion)) >= version);
  return {
    earliest_height: earliestHeight(network, version),
    enabled: current >= version,
    state: stateOf(network, now()),
    threshold: 0,
    version: current,
    votes: votes.length,
    voting: newest,
    window: window.length,
  };
}
