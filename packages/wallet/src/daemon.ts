/** The node of a wallet: the calls that scanning needs, with failures as the errors that callers know. */
import {
  BadAnswer,
  type Call,
  type Client,
  ConnectionFailed,
  createClient,
  daemonMethods,
  type Login,
  RemoteError,
  type ServerTls,
} from "@anulo/rpc";
import { connectThrough, type SocksProxy } from "@anulo/socks";
import { WalletRefusal } from "./refusal.ts";

/** The address of the node. It survives structured cloning. */
export type DaemonAddress = {
  /** `http://host:port`, or `https://..`; empty when there is no node. */
  readonly url: string;
  readonly login?: Login;
  /** If left out, the scheme of the address decides. */
  readonly tls?: ServerTls;
  readonly proxy?: SocksProxy;
  /** Accept its blocks whatever their hard fork version. */
  readonly takesOtherForks?: boolean;
};

type DaemonClient = Client<typeof daemonMethods>;
type Params<K extends keyof DaemonClient> = DaemonClient[K] extends (
  params: infer P,
  ...rest: never[]
) => unknown
  ? P
  : never;
type Answer<K extends keyof typeof daemonMethods> = Awaited<ReturnType<DaemonClient[K]>>;

export type Daemon = {
  readonly address: DaemonAddress;
  readonly isTrusted: boolean;
  /** Every call of the node; `checked` turns its failures into `WalletRefusal`. */
  readonly client: DaemonClient;
  readonly getBlocks: (params: Params<"getBlocksBin">) => Promise<Answer<"getBlocksBin">>;
  readonly getHeight: () => Promise<Answer<"getHeight">>;
  /** Ids of the transactions in the pool, 32 bytes each. */
  readonly getPoolHashes: () => Promise<Uint8Array[]>;
  readonly getTransactions: (params: Params<"getTransactions">) => Promise<Answer<"getTransactions">>;
  readonly close: () => void;
};

/**
 * A well-formed address at which no server can listen; it stands for "no node", so that every call fails in the same
 * way.
 */
const NOWHERE = "http://127.0.0.1:0";

const MiB = 1024 * 1024;

/**
 * Maximum response sizes (bytes) of calls with long responses: blocks as monerod splits them, 100 transactions, one or
 * two numbers per block, a pool.
 */
const LONG_ANSWERS: { readonly [K in keyof typeof daemonMethods]?: number } = {
  getBlocksBin: 256 * MiB,
  getTransactions: 32 * MiB,
  getTransactionPoolHashesBin: 32 * MiB,
  getOutputDistributionBin: 16 * MiB,
  getOutputHistogram: 16 * MiB,
  getTxpoolBacklog: 32 * MiB,
};
const answerBytes = new Map<Call, number>(
  Object.entries(LONG_ANSWERS).map(([key, bytes]) => [
    daemonMethods[key as keyof typeof daemonMethods],
    bytes,
  ]),
);

/** All other responses are short: parsing a response of a node takes many times its size in memory. */
const maxAnswerBytes = (call: Call): number => answerBytes.get(call) ?? MiB;

/** Creates a client that connects at its first call; never throws itself. */
export function connectDaemon(
  address: DaemonAddress,
  { trusted = false }: { trusted?: boolean } = {},
): Daemon {
  const url = URL.canParse(address.url) ? address.url : NOWHERE;
  const { login, tls, proxy } = address;
  let client: DaemonClient | undefined;
  let isClosed = false;
  // Most wallets of a service never need their own: their scan thread fetches the blocks.
  const clientOf = (): DaemonClient => {
    client ??= createClient(daemonMethods, url, {
      maxAnswerBytes,
      ...(login !== undefined && { login }),
      ...(tls !== undefined && { tls }),
      ...(proxy !== undefined && { connect: connectThrough.bind(undefined, proxy) }),
    });
    if (isClosed) client.close();
    return client;
  };
  return {
    address,
    isTrusted: trusted,
    get client() {
      return clientOf();
    },
    getBlocks: (params) => checked(clientOf().getBlocksBin(params)),
    getHeight: () => checked(clientOf().getHeight()),
    getPoolHashes: async () => (await checked(clientOf().getTransactionPoolHashesBin())).tx_hashes,
    getTransactions: (params) => checked(clientOf().getTransactions(params)),
    close: () => {
      isClosed = true;
      client?.close();
    },
  };
}

/** Awaits a response and checks that its status is OK; throws `WalletRefusal` otherwise. */
export async function checked<T extends { readonly status: string }>(response: Promise<T>): Promise<T> {
  const answer = await reached(response);
  if (answer.status === "OK") return answer;
  if (answer.status === "BUSY")
    throw new WalletRefusal("DAEMON_IS_BUSY", "daemon is busy. Please try again later.");
  throw new WalletRefusal("UNKNOWN_ERROR", `the node answered: ${toldByNode(answer.status)}`);
}

/** Characters of a node's text in an error: errors are logged, and those of refused payments are kept for ever. */
const MAX_TOLD = 256;

/** A text of the node as a short line, without characters that have an effect of their own where it is shown. */
export function toldByNode(text: string): string {
  const line = text.slice(0, MAX_TOLD).replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, " ");
  return text.length > MAX_TOLD ? `${line} ..` : line;
}

/**
 * Awaits the response of a call without status; throws `WalletRefusal` if the node cannot be reached or returns an
 * error.
 */
export async function reached<T>(response: Promise<T>): Promise<T> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof ConnectionFailed)
      throw new WalletRefusal("NO_DAEMON_CONNECTION", "no connection to daemon");
    if (error instanceof BadAnswer || error instanceof RemoteError) {
      throw new WalletRefusal("UNKNOWN_ERROR", `the node refused: ${toldByNode(error.message)}`);
    }
    throw error;
  }
}

/** The URL of `host:port` with or without scheme, as callers write it. */
export function daemonUrl(address: string): string {
  return address === "" || /^https?:\/\//.test(address) ? address : `http://${address}`;
}
