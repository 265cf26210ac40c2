/**
 * Texts of names, asked of name servers over TCP: answers are whole, nobody who does not see the connection can slip in
 * one of his own, and it goes through a proxy like any other. Source: RFC 7766.
 */
import { randomInt } from "node:crypto";
import { getServers } from "node:dns";
import type { Duplex } from "node:stream";
import { type Connect, overTcp } from "../dial.ts";
import { BadNameAnswer, type NamedTexts, readTextAnswer, writeTextQuestion } from "./text-message.ts";

export type NameServer = { readonly host: string; readonly port: number };

const DNS_PORT = 53;
/** For one server. */
const SERVER_MS = 2_000;
const MAX_ANSWER_BYTES = 16 * 1024;

/** Those this machine is told to use. */
function systemNameServers(): NameServer[] {
  return getServers().map((text) => {
    const [, bracketed, plain, port] = /^(?:\[(.+)\]|([\d.]+))(?::(\d+))?$/.exec(text) ?? [];
    return { host: bracketed ?? plain ?? text, port: Number(port ?? DNS_PORT) };
  });
}

/** The one message that follows its length; throws when it is too long or the stream ends before it does. */
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
  // An error after the answer is nobody's concern; before it the reading throws it.
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
 * What the first server that answers says of a domain name; undefined when none does. `servers` are this machine's and
 * `connect` opens TCP unless given; `signal` gives up.
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
      // Away, silent or talking nonsense: the next one may know.
    }
  }
  return undefined;
}
