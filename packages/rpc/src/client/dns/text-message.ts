/** Questions for the texts of a name and their answers, as bytes. Source: RFC 1035 §4, RFC 6840 §5.7 (the bit AD). */

/** The response of a name server. */
export type NamedTexts = {
  readonly texts: readonly string[];
  /** The server reports that it has verified the DNSSEC signatures up to the root. */
  readonly isAuthenticated: boolean;
};

/** A server's response that does not answer the query. */
export class BadNameAnswer extends Error {
  override readonly name = "BadNameAnswer";
}

const TYPE_CNAME = 5;
const TYPE_TXT = 16;
const CLASS_INTERNET = 1;
const HEADER_BYTES = 12;
const isResponse = 0x8000;
const isTruncated = 0x0200;
const wantsRecursion = 0x0100;
const isAuthenticated = 0x0020;
const OPCODE_BITS = 0x7800;
const RESULT_BITS = 0x000f;
const RESULT_NO_SUCH_NAME = 3;

const MAX_RECORDS = 64;
const MAX_TEXT_BYTES = 4096;
const MAX_NAME_BYTES = 255;
const MAX_LABEL_BYTES = 63;
const MAX_JUMPS = 32;

const isName = /^(?=.{3,253}$)(?:[a-z0-9_-]{1,63}\.)+[a-z0-9_-]{1,63}$/i;

/** Whether text is a domain name: letters, digits, "-" and "_" between dots, of which there is at least one. */
export function isDomainName(text: string): boolean {
  return isName.test(text);
}

/** A query for the text records of `name`, which must be a domain name, for recursive servers. */
export function writeTextQuestion(name: string, id: number): Uint8Array {
  if (!isDomainName(name)) throw new RangeError("not a domain name");
  const labels = name.split(".").map((label) => Buffer.from(label, "latin1"));
  const question = Buffer.concat([
    ...labels.flatMap((label) => [Buffer.of(label.length), label]),
    Buffer.of(0, 0, TYPE_TXT, 0, CLASS_INTERNET),
  ]);
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE(wantsRecursion | isAuthenticated, 2);
  header.writeUInt16BE(1, 4);
  return Buffer.concat([header, question]);
}

/** Reads from a position in the message; never beyond its end. */
class Cursor {
  readonly #bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes;
    this.at = at;
  }

  take(count: number): Buffer {
    const end = this.at + count;
    if (end > this.#bytes.length) throw new BadNameAnswer("ends too early");
    const part = this.#bytes.subarray(this.at, end);
    this.at = end;
    return part;
  }

  uint16(): number {
    return this.take(2).readUInt16BE(0);
  }

  /** Labels in lower case with a dot after each; compression may continue them elsewhere in the message. */
  name(): string {
    let labels = "";
    let from: Cursor = this;
    for (let jumps = 0; ; ) {
      const length = from.take(1)[0]!;
      if (length === 0) return labels.toLowerCase();
      if (length >= 0xc0) {
        if (++jumps > MAX_JUMPS) throw new BadNameAnswer("a name goes round");
        from = new Cursor(this.#bytes, ((length & 0x3f) << 8) | from.take(1)[0]!);
      } else {
        if (length > MAX_LABEL_BYTES) throw new BadNameAnswer("a label of another kind");
        labels += `${from.take(length).toString("latin1")}.`;
        if (labels.length > MAX_NAME_BYTES) throw new BadNameAnswer("a name is too long");
      }
    }
  }
}

/** The strings of one record, concatenated. */
function readText(data: Buffer): string {
  const cursor = new Cursor(data);
  const strings: Buffer[] = [];
  while (cursor.at < data.length) strings.push(cursor.take(cursor.take(1)[0]!));
  const text = Buffer.concat(strings);
  if (text.length > MAX_TEXT_BYTES) throw new BadNameAnswer("a text is too long");
  return text.toString("latin1");
}

/** Text records of `name`, or of its canonical name, which servers send first. */
function readTexts(cursor: Cursor, name: string, records: number): string[] {
  let owner = name;
  const texts: string[] = [];
  for (let i = 0; i < records; i++) {
    const of = cursor.name();
    const type = cursor.uint16();
    const kind = cursor.uint16();
    cursor.take(4);
    const length = cursor.uint16();
    const start = cursor.at;
    const data = cursor.take(length);
    if (of !== owner || kind !== CLASS_INTERNET) continue;
    if (type === TYPE_TXT) texts.push(readText(data));
    if (type === TYPE_CNAME) {
      cursor.at = start;
      owner = cursor.name();
      if (cursor.at !== start + length) throw new BadNameAnswer("a name of another length");
    }
  }
  return texts;
}

/** Parses the response to `writeTextQuestion(name, id)`. Throws BadNameAnswer for anything else. */
export function readTextAnswer(message: Uint8Array, { name, id }: { name: string; id: number }): NamedTexts {
  const cursor = new Cursor(Buffer.from(message.buffer, message.byteOffset, message.byteLength));
  const responseId = cursor.uint16();
  const flags = cursor.uint16();
  const [questions, records] = [cursor.uint16(), cursor.uint16()];
  cursor.take(4);
  if (responseId !== id || (flags & (isResponse | OPCODE_BITS)) !== isResponse || questions !== 1)
    throw new BadNameAnswer("not the answer");
  const owner = `${name.toLowerCase()}.`;
  if (cursor.name() !== owner || cursor.uint16() !== TYPE_TXT || cursor.uint16() !== CLASS_INTERNET)
    throw new BadNameAnswer("the answer to another question");
  const result = flags & RESULT_BITS;
  if ((flags & isTruncated) !== 0 || (result !== 0 && result !== RESULT_NO_SUCH_NAME))
    throw new BadNameAnswer("the server could not tell");
  if (records > MAX_RECORDS) throw new BadNameAnswer("too many records");
  const texts = readTexts(cursor, owner, result === 0 ? records : 0);
  return { texts, isAuthenticated: (flags & isAuthenticated) !== 0 };
}
