import { toHex } from "@anulo/protocol";
import { type Logger, startZmqPublisher, type ZmqEndpoint, type ZmqPublisher } from "@anulo/rpc";
import type { ChainEvent } from "../chain/events.ts";
import type { OpenChain } from "../chain/open-chain.ts";
import type { AppendObserver } from "../chain/parts.ts";
import type { Backlog } from "../mining/backlog.ts";
import { createNewsQueue, type NewsItem, type NewsQueue } from "./news-queue.ts";
import { AnnouncedTransactions, type FullPoolNews } from "./pool-news.ts";
import { type BlockRecorder, createRecorder, type RecordedBlock } from "./recorder.ts";
import { fullChainJson, minerDataJson, minimalChainJson, minimalPoolJson, topics } from "./topics.ts";
import { list, transactionJson } from "./transaction-json.ts";

/** Publishes events of chain and pool over ZeroMQ. */
export interface News {
  /** To be called for every block inside its write transaction. */
  readonly observe: AppendObserver;
  /** Starts to publish; rejects if an endpoint cannot be opened. */
  start(chain: OpenChain, backlog: Backlog): Promise<ZmqPublisher>;
  stop(): Promise<void>;
}

/** Bytes counted for an item, besides those of its blocks and transactions. */
const ITEM_BYTES = 256;
/** Bytes counted for an entry of the backlog. */
const BACKLOG_ENTRY_BYTES = 64;

/** Transactions that were added to the pool together: in full, then in short. */
function poolItems(news: readonly FullPoolNews[]): NewsItem[] {
  if (news.length === 0) return [];
  const bytes = ITEM_BYTES + news.reduce((sum, { blobSize }) => sum + blobSize, 0);
  return [
    {
      topic: topics.fullPool,
      bytes,
      *write() {
        const texts: string[] = [];
        for (const { transaction } of news) {
          texts.push(transactionJson(transaction()));
          yield;
        }
        return list(texts);
      },
    },
    atOnce(topics.minimalPool, bytes, () => minimalPoolJson(news)),
  ];
}

function atOnce(topic: string, bytes: number, text: () => string): NewsItem {
  return {
    topic,
    bytes,
    // biome-ignore lint/correctness/useYield: too short for a pause
    *write() {
      return text();
    },
  };
}

function minerItems({ minerData }: RecordedBlock): NewsItem[] {
  if (minerData === undefined) return [];
  const bytes = ITEM_BYTES + BACKLOG_ENTRY_BYTES * minerData.backlog.length;
  return [atOnce(topics.minerData, bytes, () => minerDataJson(minerData))];
}

function chainItems({ block, height, id }: RecordedBlock): NewsItem[] {
  const bytes = ITEM_BYTES + 32 * block.transactionHashes.length;
  return [
    atOnce(topics.fullChain, bytes, () => fullChainJson(block)),
    atOnce(topics.minimalChain, bytes, () => minimalChainJson(block, height, id)),
  ];
}

/** The items of a block: the transactions supplied with it, the miner data, the block. Source: #10104. */
function blockItems(notes: RecordedBlock): NewsItem[] {
  return [...poolItems(notes.unannounced), ...minerItems(notes), ...chainItems(notes)];
}

/**
 * After all blocks of a heavier branch, each published when it was appended, the original publishes its end again, and
 * all its blocks. Source: blockchain.cpp `switch_to_alternative_blockchain`.
 */
function branchItems(notes: readonly RecordedBlock[]): NewsItem[] {
  const top = notes.at(-1);
  return [
    ...notes.flatMap(blockItems),
    ...(top === undefined ? [] : minerItems(top)),
    ...notes.flatMap(chainItems),
  ];
}

/** The items of one event. */
function itemsOf(event: ChainEvent, { chain, recorder, announced }: NewsSources): NewsItem[] {
  const { read } = chain.parts.store;
  if (event.type === "blockAdded") {
    const notes = recorder.take(event.id);
    return notes === undefined ? [] : blockItems(notes);
  }
  if (event.type === "reorganised") {
    const heights = Array.from({ length: event.added }, (_, i) => event.forkHeight + 1 + i);
    const ids = heights.flatMap((height) => read.blockInfo(height)?.hash ?? []);
    return branchItems(ids.flatMap((id) => recorder.take(id) ?? []));
  }
  if (event.type === "transactionAdded") {
    const news = announced.added(event.id);
    return news === undefined ? [] : poolItems([news]);
  }
  return event.type === "transactionsPublic" ? poolItems(announced.madePublic(event.ids)) : [];
}

interface NewsSources {
  readonly chain: OpenChain;
  readonly recorder: BlockRecorder;
  readonly announced: AnnouncedTransactions;
}

interface StartedNews extends NewsSources {
  readonly publisher: ZmqPublisher;
  readonly queue: NewsQueue;
  readonly unlisten: () => void;
}

/** Creates what is needed before the chain is opened; no port is open yet. */
export function createNews(endpoints: readonly ZmqEndpoint[], log: Logger): News {
  let started: StartedNews | undefined;
  const onBug = (error: unknown) => log.error("news could not be published", { error });
  return {
    observe: (view, appended) => started?.recorder.observe(view, appended),
    async start(chain, backlog) {
      const publisher = await startZmqPublisher({ endpoints, topics: Object.values(topics), log });
      const announced = new AnnouncedTransactions(chain.parts.pool);
      const recorder = createRecorder({
        backlog,
        isWanted: () => Object.values(topics).some((topic) => publisher.isWanted(topic)),
        isMinerDataWanted: () => publisher.isWanted(topics.minerData),
        unannounced: (appended) => announced.mined(appended),
      });
      const queue = createNewsQueue(publisher, onBug);
      const sources = { chain, recorder, announced };
      const unlisten = chain.events.listen((event) => {
        if (event.type === "transactionAdded") markFitting(chain, backlog, event.id);
        queue.push(itemsOf(event, sources));
      });
      started = { ...sources, publisher, queue, unlisten };
      return publisher;
    },
    async stop() {
      started?.unlisten();
      await started?.queue.stop();
      await started?.publisher.stop();
    },
  };
}

/** A transaction that was just added to the pool fits the chain: it need not be judged again for the next block. */
function markFitting({ parts }: OpenChain, backlog: Backlog, id: Uint8Array): void {
  const key = toHex(id);
  const entry = parts.pool.get(key);
  if (entry !== undefined && !entry.row.keptByBlock) backlog.markFitting(key, parts.state.view());
}
