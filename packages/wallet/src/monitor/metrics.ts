/** The metrics of a wallet service, and where their values come from. */

import type { WebhookStatus } from "@anulo/events";
import { byLabel, type MetricTable } from "@anulo/metrics";
import { rpcMetrics } from "@anulo/rpc";
import { BLOCKS_BEHIND, type Reached, type WalletMonitor, type WalletSource } from "./monitor.ts";

const isReached = (reached: Reached | undefined) => reached && Number(reached.isReached);

const hooks = ({ events }: WalletMonitor): readonly WebhookStatus[] | undefined => events?.webhooks.list();

const walletCounts: MetricTable<WalletSource> = {
  anulo_wallet_open: {
    type: "gauge",
    help: "Open wallets.",
    read: ({ wallet }) => wallet.runtime.heights.open,
  },
  anulo_wallet_behind: {
    type: "gauge",
    help: `Open wallets more than ${BLOCKS_BEHIND} blocks below the node, as it answered last.`,
    read: ({ wallet: { runtime, node } }) =>
      node?.height === undefined ? undefined : runtime.heights.below(node.height - BLOCKS_BEHIND),
  },
  anulo_wallet_scanned_blocks_total: {
    type: "counter",
    help: "Blocks that wallets have scanned, each wallet's for itself.",
    read: ({ wallet }) => wallet.runtime.heights.scannedBlocks,
  },
  anulo_wallet_scan_threads: {
    type: "gauge",
    help: "Threads that scan.",
    read: ({ wallet }) => wallet.runtime.scanThreads.count,
  },
  anulo_wallet_jobs_waiting: {
    type: "gauge",
    help: "Jobs (signing, proofs, passwords, batches of long scans) that wait for a thread.",
    read: ({ wallet }) => wallet.runtime.threads.waiting,
  },
  anulo_wallet_job_threads: {
    type: "gauge",
    help: "Threads that do such jobs, or wait for one.",
    read: ({ wallet }) => wallet.runtime.threads.count,
  },
  anulo_wallet_transactions_total: {
    type: "counter",
    help: "Transactions given to the node, by what it answered; the unanswered are sent again.",
    labels: ["outcome"],
    read: ({ wallet }) => byLabel("outcome", Object.entries(wallet.runtime.sending)),
  },
};

const outside: MetricTable<WalletSource> = {
  anulo_wallet_node_up: {
    type: "gauge",
    help: "Whether the node answered (1) when it was asked last.",
    read: ({ wallet }) => isReached(wallet.node),
  },
  anulo_wallet_node_height: {
    type: "gauge",
    help: "Blocks of the node's chain.",
    read: ({ wallet }) => wallet.node?.height,
  },
  anulo_wallet_node_answer_seconds: {
    type: "gauge",
    help: "Time that the node's last answer to a readiness check took.",
    read: ({ wallet }) => wallet.node?.seconds,
  },
  anulo_wallet_store_up: {
    type: "gauge",
    help: "Whether the store of the ledgers answered (1) when it was asked last.",
    read: ({ wallet }) => isReached(wallet.store),
  },
  anulo_wallet_store_answer_seconds: {
    type: "gauge",
    help: "Time that the store's last answer to a readiness check took.",
    read: ({ wallet }) => wallet.store?.seconds,
  },
};

const eventCounts: MetricTable<WalletSource> = {
  anulo_events_logged_total: {
    type: "counter",
    help: "Events that the log was given since it was created.",
    read: ({ wallet: { events } }) => events?.log.last,
  },
  anulo_events_stored: {
    type: "gauge",
    help: "Events in the log.",
    read: ({ wallet: { events } }) => events && events.log.last - events.log.oldest + 1,
  },
  anulo_events_webhooks: {
    type: "gauge",
    help: "Webhooks, by whether events are sent to them.",
    labels: ["state"],
    read: ({ wallet }) => {
      const all = hooks(wallet);
      if (all === undefined) return undefined;
      const disabled = all.filter((hook) => hook.disabled !== "").length;
      const failing = all.filter((hook) => hook.disabled === "" && hook.attempts > 0).length;
      return byLabel("state", [
        ["sending", all.length - disabled - failing],
        ["failing", failing],
        ["disabled", disabled],
      ]);
    },
  },
  anulo_events_webhook_lag: {
    type: "gauge",
    help: "Events that the webhook furthest behind has still to be sent, or skipped.",
    read: ({ wallet }) => {
      const all = hooks(wallet);
      return all?.reduce((most, hook) => Math.max(most, wallet.events!.log.last - hook.sequence), 0);
    },
  },
  anulo_events_webhook_missed_total: {
    type: "counter",
    help: "Events that were removed from the log before they were sent to a webhook.",
    read: ({ wallet }) => hooks(wallet)?.reduce((sum, hook) => sum + hook.missed, 0),
  },
  anulo_events_webhook_dead_letters_total: {
    type: "counter",
    help: "Events that were given up because a webhook did not take them, since the start.",
    read: ({ wallet: { events } }) => events?.webhooks.givenUp,
  },
  anulo_events_sink_up: {
    type: "gauge",
    help: "Whether the stream that events are published to is connected (1).",
    read: ({ wallet: { events } }) => events?.sink && Number(events.sink.isConnected),
  },
  anulo_events_sink_lag: {
    type: "gauge",
    help: "Events that the stream does not have yet.",
    read: ({ wallet: { events } }) => events?.sink && events.log.last - events.sink.sequence,
  },
};

/** Every metric of a wallet service; none contains a wallet's name. */
export const walletMetrics: MetricTable<WalletSource> = {
  ...walletCounts,
  ...outside,
  ...eventCounts,
  ...rpcMetrics,
};
