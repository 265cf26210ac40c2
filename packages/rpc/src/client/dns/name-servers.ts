/**
 * Looks up text records over TCP: responses are complete, only a party on the connection's path can forge one, and it
 * works through a proxy like any other connection. Source: RFC 7766.
 */
import { randomInt } from "node:crypto";
import { getServers } from "node:dns";
import type { Duplex } from "node:stream";
import { type Connect, overTcp } from "../dial.ts";
import { BadNameAnswer, type NamedTexts, readTextAnswer, writeTextQuestion } from "./text-message.ts";

export type NameServer = { readonly host: string; readonly port: number };

const DNS_PORT = 53;
/** Time limit (milliseconds) per server. */
const SERVER_MS = 2_000;
const MAX_ANSWER_BYTES = 16 * 1024;

/** The name servers that this machine is configured to use. */
function systemNameServers(): NameServer[] {
  return getServers().map((text) => {
    const [, bracketed, plain, port] = /^(?:\[(.+)\]|([\d.]+))(?::(\d+))?$/.exec(text) ?? [];
    return { host: bracketed ?? plain ?? text, port: Number(port ?? DNS_PORT) };
  });
}

/** Reads the message after its length; throws if it is too long or the stream ends before it does. */
async function readMessage(stream: Duplex): Promise<Uint8Array> {
  let read = Buffer.alloc(0);
  for await (const chunk of stream) {
    read = Buffer.concat([read, chunk as Buffer]);
    if (read.length < 2) continue;
    const length = read.readUInt16BE(0);
    if (length > MAX_ANSWER_BYTES) throw new BadNameAnswer("too long");
    if (read.length >= 2 + length) return read.subarray(2, 2 + length);
  }
  throw new BadNameAnswer("ended without an answer");
}

async function ask(
  name: string,
  { server, connect, signal }: { server: NameServer; connect: Connect; signal: AbortSignal },
): Promise<NamedTexts> {
  const id = randomInt(0x1_0000);
  const question = writeTextQuestion(name, id);
  const stream = await connect(server, signal);
  const giveUp = () => void stream.destroy(new BadNameAnswer("no answer in time"));
  // Errors after the response are ignored; errors before it are thrown by the read.
  stream.on("error", () => undefined);
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    if (signal.aborted) giveUp();
    const length = Buffer.alloc(2);
    length.writeUInt16BE(question.length);
    stream.write(Buffer.concat([length, question]));
    return readTextAnswer(await readMessage(stream), { name, id });
  } finally {
    signal.removeEventListener("abort", giveUp);
    stream.destroy();
  }
}

/**
 * The response of the first server that returns one for a domain name; undefined if none does. By default `servers` are
 * this machine's and `connect` opens TCP; `signal` aborts.
 */
export async function lookUpTexts(
  name: string,
  options: {
    readonly servers?: readonly NameServer[];
    readonly connect?: Connect;
    readonly signal: AbortSignal;
  },
): Promise<NamedTexts | undefined> {
  const { servers = systemNameServers(), connect = overTcp } = options;
  for (const server of servers) {
    if (options.signal.aborted) return undefined;
    const signal = AbortSignal.any([options.signal, AbortSignal.timeout(SERVER_MS)]);
    try {
      return await ask(name, { server, connect, signal });
    } catch {
      // The server cannot be reached, is silent or returned an invalid response: the next one may respond.
    }
  }
  return undefined;
}
