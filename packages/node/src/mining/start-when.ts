import type { Miner, MiningOrder } from "./miner.ts";

const POLL_MS = 1000;

/**
 * Starts to mine once `isReady` returns true, unless the returned function is called before: mining on anything but the
 * top is wasted. Source: miner.cpp `on_synchronized`.
 */
export function startWhen(isReady: () => boolean, miner: Miner, order: MiningOrder): () => void {
  const poll = () => {
    if (!isReady()) return;
    clearInterval(timer);
    if (miner.state() === undefined) miner.start(order);
  };
  const timer = setInterval(poll, POLL_MS).unref();
  poll();
  return () => clearInterval(timer);
}
