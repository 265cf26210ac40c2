import type { Endpoint } from "@anulo/p2p";
import {
  BadAnswer,
  type CallOptions,
  type Client,
  ConnectionFailed,
  createClient,
  daemonMethods,
  type Logger,
  RemoteError,
} from "@anulo/rpc";
import { connectThrough, type SocksProxy } from "@anulo/socks";
import { type BootstrapChoice, endpointText, type ReadChoice, readChoice } from "./bootstrap-choice.ts";
import { type PublicNodes, pickPublicNode } from "./public-nodes.ts";

/** Name of a declared call. */
export type CallKey = keyof typeof daemonMethods;

/** The node that is ahead of this one. */
export interface AheadNode {
  /** Its answer, whatever its status; undefined where it gave none. */
  ask(key: CallKey, params: unknown): Promise<Readonly<Record<string, unknown>> | undefined>;
}

/** Another node, not trusted, that answers while this one is behind. Source: bootstrap_daemon.cpp. */
export interface Bootstrap {
  /** `host:port` of the node to which calls are forwarded, "" for none. */
  readonly address: string;
  readonly wasEverUsed: boolean;
  /** False: nothing was chosen, or this node has caught up since. */
  readonly isWanted: boolean;
  /** Begins anew. Throws BadBootstrap. */
  choose(choice: BootstrapChoice): void;
  /** The chosen node, where it answers and is far enough ahead. */
  nodeAhead(): Promise<AheadNode | undefined>;
  /** Aborts requests that are under way. */
  stop(): void;
}

export interface BootstrapOptions {
  /** Blocks of our chain. */
  readonly height: () => number;
  /** Blocks are fetched from no peer: this node never catches up. */
  readonly noSync: boolean;
  readonly publicNodes: () => PublicNodes;
  /** Goes before the proxy of a choice. Source: core_rpc_server.cpp `set_bootstrap_daemon`. */
  readonly proxy: SocksProxy | undefined;
  readonly log: Logger;
  /** Milliseconds of a clock that never goes back; left out, the machine's. */
  readonly clockMs?: (() => number) | undefined;
}

/** A node behind by no more is as good as the other. Source: core_rpc_server.cpp `use_bootstrap_daemon_if_necessary`. */
const BLOCKS_BEHIND = 10;
/** How often the other's height is looked at; same source. */
const LOOK_MS = 30_000;
const LOOK_TIMEOUT_MS = 15_000;
/** For the longest answer, some 100 MB of blocks. */
const ASK_TIMEOUT_MS = 60_000;
const MAX_ANSWER_BYTES = 128 * 1024 * 1024;
const CONNECTIONS = 4;
/** Public nodes remembered to have failed. */
const MAX_FAILED = 100;

type Standing = "ahead" | "caught up" | "unusable";

/** A node to which calls are forwarded. */
interface Asked {
  readonly endpoint: Endpoint;
  readonly client: Client<typeof daemonMethods>;
  /** Aborts requests that are under way. */
  readonly closed: AbortController;
  lookedAt: number;
  standing: Promise<Standing> | undefined;
}

interface Chosen extends ReadChoice {
  readonly failed: Endpoint[];
  target: Asked | undefined;
  isCaughtUp: boolean;
}

function openNode(endpoint: Endpoint, { login, tls }: ReadChoice, proxy: SocksProxy | undefined): Asked {
  const client = createClient(daemonMethods, `http://${endpointText(endpoint)}`, {
    timeoutMs: ASK_TIMEOUT_MS,
    maxAnswerBytes: () => MAX_ANSWER_BYTES,
    connections: CONNECTIONS,
    tls,
    ...(login !== undefined && { login }),
    ...(proxy !== undefined && { connect: connectThrough.bind(undefined, proxy) }),
  });
  return { endpoint, client, closed: new AbortController(), lookedAt: 0, standing: undefined };
}

function closeNode({ client, closed }: Asked): void {
  closed.abort();
  client.close();
}

function isExpected(error: unknown): error is Error {
  return [RemoteError, BadAnswer, ConnectionFailed].some((kind) => error instanceof kind);
}

/** Creates one that asks no node until one is chosen. */
export function createBootstrap(options: BootstrapOptions): Bootstrap {
  const { log, clockMs = () => performance.now() } = options;
  let current: Chosen | undefined;
  let wasEverUsed = false;

  const close = () => current?.target && closeNode(current.target);

  /** A public node that fails makes room for another; the one that was named stays. */
  const giveUp = (from: Chosen, target: Asked) => {
    if (from.node !== undefined || from.target !== target) return;
    closeNode(target);
    from.target = undefined;
    from.failed.push(target.endpoint);
    if (from.failed.length > MAX_FAILED) from.failed.shift();
  };

  const open = (from: Chosen): Asked | undefined => {
    const endpoint = from.node ?? pickPublicNode(options.publicNodes(), from.failed);
    return endpoint && openNode(endpoint, from, options.proxy ?? from.proxy);
  };

  const look = async ({ client, endpoint, closed }: Asked): Promise<Standing> => {
    const node = endpointText(endpoint);
    try {
      const info = await client.getInfoPath({}, { timeoutMs: LOOK_TIMEOUT_MS, signal: closed.signal });
      if (info.status !== "OK" || info.height < info.target_height) {
        log.info("the bootstrap node is not synchronized", { node });
        return "unusable";
      }
      const isAhead = options.noSync || options.height() + BLOCKS_BEHIND < info.height;
      log.info(isAhead ? "using the bootstrap node" : "no need of the bootstrap node", { node });
      return isAhead ? "ahead" : "caught up";
    } catch (error) {
      if (!isExpected(error)) throw error;
      log.warn("the bootstrap node does not tell its height", { node, reason: error.message });
      return "unusable";
    }
  };

  const ask = async (from: Chosen, target: Asked, question: { key: CallKey; params: unknown }) => {
    const send = target.client[question.key] as (
      params: unknown,
      options: CallOptions,
    ) => Promise<Readonly<Record<string, unknown>>>;
    try {
      const answer = await send(question.params, { signal: target.closed.signal });
      wasEverUsed = true;
      return answer;
    } catch (error) {
      if (!isExpected(error)) throw error;
      log.info("the bootstrap node gave no answer", { call: question.key, reason: error.message });
      if (!(error instanceof RemoteError)) giveUp(from, target);
      return undefined;
    }
  };

  return {
    get address() {
      return current?.target === undefined ? "" : endpointText(current.target.endpoint);
    },
    get wasEverUsed() {
      return wasEverUsed;
    },
    get isWanted() {
      return current !== undefined && !current.isCaughtUp;
    },
    choose(choice) {
      const read = readChoice(choice);
      close();
      current = read && { ...read, failed: [], target: undefined, isCaughtUp: false };
      if (current?.node !== undefined) current.target = open(current);
    },
    async nodeAhead() {
      const from = current;
      if (from === undefined || from.isCaughtUp) return undefined;
      from.target ??= open(from);
      const { target } = from;
      if (target === undefined) return undefined;
      if (target.standing === undefined || clockMs() - target.lookedAt > LOOK_MS) {
        target.lookedAt = clockMs();
        target.standing = look(target);
      }
      const standing = await target.standing;
      if (standing === "caught up") from.isCaughtUp = true;
      if (standing === "unusable") giveUp(from, target);
      if (standing !== "ahead" || current !== from) return undefined;
      return { ask: (key, params) => ask(from, target, { key, params }) };
    },
    stop() {
      close();
      current = undefined;
    },
  };
}
