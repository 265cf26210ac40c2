/** The node behind a wallet: the calls scanning needs, with the refusals callers know. */
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

/** Where the node is. Survives structured cloning. */
export type DaemonAddress = {
  /** `http://host:port`, or `https://..`; empty when there is no node. */
  readonly url: string;
  readonly login?: Login;
  /** Left out: as the address says. */
  readonly tls?: ServerTls;
  readonly proxy?: SocksProxy;
  /** Its blocks are taken whatever hard forks they are of. */
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
  /** Every call of the node; `checked` turns its failures into refusals. */
  readonly client: DaemonClient;
  readonly getBlocks: (params: Params<"getBlocksBin">) => Promise<Answer<"getBlocksBin">>;
  readonly getHeight: () => Promise<Answer<"getHeight">>;
  /** 32 bytes each. */
  readonly getPoolHashes: () => Promise<Uint8Array[]>;
  readonly getTransactions: (params: Params<"getTransactions">) => Promise<Answer<"getTransactions">>;
  readonly close: () => void;
};

/** A well-formed address nobody can listen on stands for none, so that every call is refused in the same way. */
const NOWHERE = "http://127.0.0.1:0";

const MiB = 1024 * 1024;

/** Bytes of answers that run long: blocks as the original cuts them, 100 transactions, a number or two a block, a pool. */
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

/** All others are short: what is read of a node takes many times its bytes of memory. */
const maxAnswerBytes = (call: Call): number => answerBytes.get(call) ?? MiB;

/** Connects when first called; never throws itself. */
export function connectDaemon(
  address: DaemonAddress,
  { trusted = false }: { trusted?: boolean } = {},
): Daemon {
  const url = URL.canParse(address.url) ? address.url : NOWHERE;
  const { login, tls, proxy } = address;
  const client = createClient(daemonMethods, url, {
    maxAnswerBytes,
    ...(login !== undefined && { login }),
    ...(tls !== undefined && { tls }),
    ...(proxy !== undefined && { connect: connectThrough.bind(undefined, proxy) }),
  });
  return {
    address,
    isTrusted: trusted,
    client,
    getBlocks: (params) => checked(client.getBlocksBin(params)),
    getHeight: () => checked(client.getHeight()),
    getPoolHashes: async () => (await checked(client.getTransactionPoolHashesBin())).tx_hashes,
    getTransactions: (params) => checked(client.getTransactions(params)),
    close: client.close,
  };
}

/** The answer, once its status is OK; else the refusal callers know. */
export async function checked<T extends { readonly status: string }>(asked: Promise<T>): Promise<T> {
  const answer = await reached(asked);
  if (answer.status === "OK") return answer;
  if (answer.status === "BUSY")
    throw new WalletRefusal("DAEMON_IS_BUSY", "daemon is busy. Please try again later.");
  throw new WalletRefusal("UNKNOWN_ERROR", `the node answered: ${answer.status}`);
}

/** The answer of a call without status. */
export async function reached<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ConnectionFailed)
      throw new WalletRefusal("NO_DAEMON_CONNECTION", "no connection to daemon");
    if (error instanceof BadAnswer || error instanceof RemoteError) {
      throw new WalletRefusal("UNKNOWN_ERROR", `the node refused: ${error.message}`);
    }
    throw error;
  }
}

/** `host:port` with or without scheme, as callers write it. */
export function daemonUrl(address: string): string {
  return address === "" || /^https?:\/\//.test(address) ? address : `http://${address}`;
}
