/** Passes requests on to other processes of the same service. */
import type { Agent, IncomingMessage } from "node:http";
import type { MaybePromise } from "@anulo/limits";
import { nodeHttp } from "../loaded-later.ts";
import type { Answer } from "../server/answer.ts";
import { isPassedStatus } from "./passed-status.ts";
import { hostAndPortOf } from "./peer-address.ts";

/** The other process could not be reached: nothing of the request was sent. */
export class NotReached extends Error {
  override name = "NotReached";

  /** Whether the system at its address says that nobody listens there: at each address, where its name has several. */
  get isRefused(): boolean {
    const { cause } = this;
    // The code of such an error is that of the first address alone.
    const errors: readonly unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
    return errors.every((each) => (each as NodeJS.ErrnoException | undefined)?.code === "ECONNREFUSED");
  }
}

/** No response came to a request that was sent: it is not known whether the other process has executed it. */
export class NoAnswer extends Error {
  override name = "NoAnswer";
}

/** A request to be passed on. */
export type Posting = {
  /** `host:port`. */
  readonly address: string;
  readonly method: string;
  readonly target: string;
  readonly body: Uint8Array;
  readonly authorization: string;
  readonly idempotencyKey: string | undefined;
  /** Identifies it in logs. */
  readonly id: string;
  /** Aborted when the caller has left, or the other process is gone. */
  readonly signals: readonly AbortSignal[];
  /** Reserves memory for a response of this size; an error it throws ends the request. */
  readonly admit: (bytes: number) => MaybePromise<void>;
};

export type Forwarder = {
  /** Throws `NotReached`, `NoAnswer`, and errors of `admit`. */
  passOn(posting: Posting): Promise<Answer>;
  close(): void;
};

/** Milliseconds; below the time after which a service closes idle connections. */
const IDLE_MS = 30_000;
const CONNECT_MS = 3000;

const types: readonly string[] = [
  "application/json",
  "application/octet-stream",
  "text/plain",
] satisfies Answer["type"][];

const isType = (type: string): type is Answer["type"] => types.includes(type);

/** Keeps connections open between requests: as many as there are at once, which the limits of the caller's port bound. */
export function createForwarder(): Forwarder {
  const agent: Agent = new (nodeHttp().Agent)({
    keepAlive: true,
    timeout: IDLE_MS,
  });
  return {
    async passOn(posting) {
      const message = await send(agent, posting);
      try {
        return await readAnswer(message, posting);
      } catch (error) {
        message.destroy();
        throw error;
      }
    },
    close: () => agent.destroy(),
  };
}

function send(agent: Agent, posting: Posting): Promise<IncomingMessage> {
  const { address, method, target, body, authorization, idempotencyKey, id, signals } = posting;
  const { host, port } = hostAndPortOf(address);
  const headers = {
    Authorization: authorization,
    "Content-Type": "application/json",
    "Content-Length": body.length,
    "X-Request-Id": id,
    ...(idempotencyKey !== undefined && { "Idempotency-Key": idempotencyKey }),
  };
  return new Promise((resolve, reject) => {
    if (signals.some(({ aborted }) => aborted)) return void reject(new NotReached("not sent"));
    const sent = nodeHttp().request({ agent, host, port, method, path: target, headers });
    let isConnected = false;
    let timer: NodeJS.Timeout | undefined;
    const end = () => void sent.destroy(new Error("nobody waits for it"));
    for (const signal of signals) signal.addEventListener("abort", end);
    sent.once("socket", (socket) => {
      const connected = () => {
        isConnected = true;
      };
      if (!socket.connecting) return connected();
      socket.once("connect", connected);
      timer = setTimeout(() => {
        if (!isConnected) sent.destroy(new Error(`not connected in ${CONNECT_MS} ms`));
      }, CONNECT_MS);
    });
    sent.once("close", () => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener("abort", end);
    });
    sent.once("response", resolve);
    sent.on("error", (cause) => {
      const Failure = isConnected ? NoAnswer : NotReached;
      reject(new Failure(`${cause.message}`, { cause }));
    });
    sent.end(body);
  });
}

async function readAnswer(message: IncomingMessage, { admit }: Posting): Promise<Answer> {
  const { statusCode: status = 0, headers } = message;
  const { "content-type": type = "text/plain", "content-length": digits = "" } = headers;
  const length = Number(digits);
  if (!isPassedStatus(status) || !isType(type) || !/^\d{1,12}$/.test(digits))
    throw new NoAnswer(`the answer is none of this service: status ${status}`);
  await admit(length);
  const body = Buffer.allocUnsafeSlow(length);
  let at = 0;
  try {
    for await (const part of message as AsyncIterable<Buffer>) at += part.copy(body, at);
  } catch (cause) {
    throw new NoAnswer("the answer broke off", { cause });
  }
  if (at !== length) throw new NoAnswer("the answer broke off");
  return { status, type, body };
}
