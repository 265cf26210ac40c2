/** Answers of a name server, well-formed or not, and one that gives them on this machine. */
import { createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";
import type { NameServer } from "../src/index.ts";

const FLAGS_OF_AN_ANSWER = 0x8180;

export function nameBytes(name: string): Buffer {
  const labels = name.split(".").filter((label) => label !== "");
  return Buffer.concat([
    ...labels.map((label) => Buffer.concat([Buffer.of(label.length), Buffer.from(label)])),
    Buffer.of(0),
  ]);
}

export type RecordRecipe = { owner: Buffer; type: number; data: Buffer };

/** The strings of a text record. */
export function strings(...texts: string[]): Buffer {
  return Buffer.concat(texts.flatMap((text) => [Buffer.of(text.length), Buffer.from(text, "latin1")]));
}

/** Points to the name in the question. */
export const sameName = Buffer.of(0xc0, 12);

export function textRecord(...texts: string[]): RecordRecipe {
  return { owner: sameName, type: 16, data: strings(...texts) };
}

export type AnswerRecipe = {
  name: string;
  id: number;
  flags?: number;
  records?: readonly RecordRecipe[];
  count?: number;
};

export function answerBytes({ name, id, flags = 0, records = [], count }: AnswerRecipe): Buffer {
  const header = Buffer.alloc(12);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE(FLAGS_OF_AN_ANSWER ^ flags, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(count ?? records.length, 6);
  const written = records.map(({ owner, type, data }) => {
    const fields = Buffer.alloc(10);
    fields.writeUInt16BE(type, 0);
    fields.writeUInt16BE(1, 2);
    fields.writeUInt16BE(data.length, 8);
    return Buffer.concat([owner, fields, data]);
  });
  return Buffer.concat([header, nameBytes(name), Buffer.of(0, 16, 0, 1), ...written]);
}

/** With its length before it, as over TCP. */
export function framed(message: Uint8Array): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}

/** A name server that hands each question, without its length, to `answer`. */
export async function startNameServer(
  t: TestContext,
  answer: (socket: Socket, question: Buffer) => void,
): Promise<NameServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("data", (bytes: Buffer) => answer(socket, bytes.subarray(2)));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return { host: "127.0.0.1", port: address.port };
}
