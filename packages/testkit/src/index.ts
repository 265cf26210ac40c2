export type { Program } from "@anulo/devnet";
export {
  CallFailed,
  call,
  type Devnet,
  type DevnetOptions,
  type DevnetWallet,
  type Exact,
  type ExactObject,
  formatExact,
  freePorts,
  isExactObject,
  parseExact,
  post,
  startDevnet,
} from "@anulo/devnet";
export { type DiskCutsOptions, runDiskCuts } from "./crash/disk/rounds.ts";
export {
  type EventRoundsOptions,
  type EventRoundsReport,
  runEventRounds,
} from "./crash/events/rounds.ts";
export { type FleetReport, type FleetRoundsOptions, runFleetRounds } from "./crash/fleet/rounds.ts";
export { FleetWorld, type FleetWorldOptions } from "./crash/fleet/world.ts";
export { type PayerOptions, type PayerReport, runPayerRounds } from "./crash/payer/rounds.ts";
export { type CrashOptions, type CrashReport, type RoundReport, runCrashRounds } from "./crash/rounds.ts";
export {
  runWalletCrashRounds,
  type WalletCrashOptions,
  type WalletCrashReport,
} from "./crash/wallet/rounds.ts";
export type {
  EarlierFiles,
  RecordedBlock,
  RecordedChain,
  RecordedState,
  RecordedWallet,
} from "./fixtures.ts";
export { layOutEarlierFiles, loadChain, loadGoldenState } from "./fixtures.ts";
export { goldenGroups, loadRecording } from "./golden/recording.ts";
export { replay } from "./golden/replay.ts";
export { describeResult, summary } from "./golden/report.ts";
export type { RawAnswer, RawRequest } from "./http/connection.ts";
export { RawConnection } from "./http/connection.ts";
export { digestAnswer, parseChallenges } from "./http/digest.ts";
export { loadBlocks, sendTransaction, submitBlock, topHash } from "./load-chain.ts";
export { createChainFolders } from "./network/chain-folders.ts";
export { createPlan } from "./network/plan.ts";
export { runNetwork } from "./network/run.ts";
export { natsMissing } from "./programs/nats.ts";
export { postgresMissing, type RunningPostgres, startPostgres } from "./programs/postgres.ts";
export {
  type OriginalProgram,
  originalProgram,
  type Release,
  realProgramsMissing,
} from "./programs/releases.ts";
export type {
  DaemonOptions,
  Maker,
  RunningDaemon,
  RunningWallet,
  WalletOptions,
} from "./programs/servers.ts";
export { startDaemon, startWallet } from "./programs/servers.ts";
export { testStore } from "./programs/test-store.ts";
export { subscribe, type ZmqClient, zmqClientMissing } from "./programs/zmq-client.ts";
export { attacks as siegeAttacks } from "./siege/attacks/catalogue.ts";
export { openSiege } from "./siege/run.ts";
export { type PreparedChain, type PrepareOptions, prepareChain } from "./sync/prepare.ts";
export { until } from "./until.ts";
