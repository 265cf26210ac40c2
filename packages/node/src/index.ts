export {
  BadCheckpoints,
  type Checkpoint,
  type KnownBlocks,
  parseCheckpoints,
  parseKnownBlocks,
  parseSeedSchedule,
  type SeedSchedule,
} from "@anulo/consensus";
export {
  BadSyncMode,
  findMonerodDatabase,
  type MigrationProgress,
  parseSyncMode,
  type SyncMode,
} from "@anulo/storage";
export type { UnusualBlockRate } from "./block-rate.ts";
export { acceptBlock, type BlockOutcome, popBlocks } from "./chain/chain.ts";
export { type CheckOptions, checkDatabase } from "./chain/check-database.ts";
export type { ChainEvent, Events } from "./chain/events.ts";
export { type IncomingBlock, readBlockWithTransactions, readIncomingBlock } from "./chain/incoming-block.ts";
export type { ChainParts } from "./chain/parts.ts";
export { type SavedChain, saveChain } from "./chain/saved-chain.ts";
export { type ExportOptions, type ExportResult, exportChain } from "./exchange/export-chain.ts";
export { type ImportOptions, type ImportResult, importChain } from "./exchange/import-chain.ts";
export { type BackgroundSettings, backgroundDefaults } from "./mining/background.ts";
export type { PowerSource } from "./mining/background-mode.ts";
export { type GeneratedBlocks, type GenerateOrder, generateBlocks } from "./mining/generate-blocks.ts";
export type { MiningOrder } from "./mining/miner.ts";
export { nodeMetrics } from "./monitor/metrics.ts";
export type { NodeMonitor, NodeSource } from "./monitor/monitor.ts";
export { nodeReadiness } from "./monitor/readiness.ts";
export { newsLimits } from "./news/news-queue.ts";
export { createNode, type Node } from "./node.ts";
export type { NodeOptions } from "./node-options.ts";
export type { PeerOptions } from "./peer-network.ts";
export { type AdmissionOutcome, admit, type Submission } from "./pool/admit.ts";
export { BadBootstrap, type BootstrapChoice, readChoice } from "./rpc/bootstrap-choice.ts";
