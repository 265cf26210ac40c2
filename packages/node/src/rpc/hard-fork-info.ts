import { forkState, forkVoting, nextForkVersion, VOTING_WINDOW } from "@anulo/consensus";
import { hardForkAt } from "@anulo/protocol";
import type { NodeContext } from "./context.ts";

/** How a hard fork stands; the next one where `version` is 0. Source: core_rpc_server.cpp `on_hard_fork_info`. */
export function hardForkInfo(params: { version: number }, { parts, memory }: NodeContext) {
  const { store, state, network, now } = parts;
  const height = store.read.height();
  const version = params.version > 0 ? params.version : nextForkVersion(network.hardForks, height);
  const minorVersions = memory.votes([state.view()], () => [
    ...store.read.blockInfoColumn("minorVersion", height - VOTING_WINDOW, height),
  ]);
  const voting = forkVoting(network.hardForks, { version, height, minorVersions });
  return {
    earliest_height: voting.earliestHeight,
    enabled: voting.isEnabled,
    state: forkState(network.hardForks, now()),
    threshold: voting.threshold,
    version: hardForkAt(network, height),
    votes: voting.votes,
    voting: voting.voting,
    window: voting.window,
  };
}
