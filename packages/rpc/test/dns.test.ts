import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  BadNameAnswer,
  isDomainName,
  readTextAnswer,
  writeTextQuestion,
} from "../src/client/dns/text-message.ts";
import { lookUpTexts } from "../src/index.ts";
import {
  type AnswerRecipe,
  answerBytes,
  framed,
  nameBytes,
  type RecordRecipe,
  sameName,
  startNameServer,
  strings,
  textRecord,
} from "./name-answers.ts";

const name = "donate.example.org";
const asked = { name, id: 0x1234 };
const AUTHENTICATED = 0x0020;
const hexOf = (text: string) => Buffer.from(text).toString("hex");
const read = (recipe: Partial<AnswerRecipe>) => readTextAnswer(answerBytes({ ...asked, ...recipe }), asked);
const alias = (target: string): RecordRecipe => ({ owner: sameName, type: 5, data: nameBytes(target) });

describe("questions to name servers", () => {
  it("hold the name, the kind of record and the wish to know whether it was checked, and nothing else", () => {
    const expected = `12340120000100000000000006${hexOf("donate")}07${hexOf("example")}03${hexOf("org")}0000100001`;
    assert.equal(Buffer.from(writeTextQuestion(name, 0x1234)).toString("hex"), expected);
  });

  it("are asked for domain names only", () => {
    for (const good of ["a.b", "_x.a-b.org", name]) assert.ok(isDomainName(good), good);
    const bad = [
      "",
      "abc",
      ".",
      "a.",
      ".a",
      "a..b",
      "a b.org",
      "monero:4.5?x=1",
      "ü.org",
      `${"a".repeat(64)}.b`,
    ];
    for (const text of [...bad, Array(128).fill("a").join(".")]) {
      assert.ok(!isDomainName(text), text);
      assert.throws(() => writeTextQuestion(text, 1), RangeError);
    }
  });
});

describe("answers of name servers", () => {
  it("give the texts of the name, strings of one record together, and whether they were checked", () => {
    const records = [textRecord("one ", "text"), textRecord("another")];
    assert.deepEqual(read({ records }), { texts: ["one text", "another"], isAuthenticated: false });
    assert.equal(read({ records, flags: AUTHENTICATED }).isAuthenticated, true);
    assert.deepEqual(read({ name: name.toUpperCase(), records: [textRecord("x")] }).texts, ["x"]);
  });

  it("give the texts of the name it stands for, not those of others", () => {
    const owned = (owner: string, text: string) => ({ ...textRecord(text), owner: nameBytes(owner) });
    const records = [
      owned("other.org", "a stranger's"),
      alias("far.example.net"),
      owned("far.example.net", "its own"),
      owned(name, "no longer asked"),
    ];
    assert.deepEqual(read({ records }).texts, ["its own"]);
  });

  it("give nothing for a name that is not there", () => {
    assert.deepEqual(read({ flags: 3 }).texts, []);
  });

  const many = (count: number) => Array.from({ length: count }, () => textRecord("x"));
  const longText = (bytes: number) =>
    textRecord(...Array<string>(Math.ceil(bytes / 255)).fill("x".repeat(255)));
  const hostile: Record<string, Partial<AnswerRecipe>> = {
    "another id": { id: 0x1235 },
    "another name": { name: "donate.example.com" },
    "a question instead": { flags: 0x8000 },
    "another operation": { flags: 0x0800 },
    "a failure of the server": { flags: 2 },
    "the beginning only": { flags: 0x0200 },
    "more records than allowed": { records: many(65) },
    "fewer records than said": { records: many(3), count: 4 },
    "a text too long": { records: [longText(4097)] },
    "a string that goes beyond its record": { records: [{ ...textRecord(), data: Buffer.of(5, 97) }] },
    "a name that points to itself": { records: [{ ...textRecord("x"), owner: Buffer.of(0xc0, 36) }] },
    "a name that points beyond the end": { records: [{ ...textRecord("x"), owner: Buffer.of(0xff, 0xff) }] },
    "a label of an unknown kind": { records: [{ ...textRecord("x"), owner: Buffer.of(0x80, 0) }] },
    "an alias longer than its record": { records: [{ ...alias("a.b"), data: strings("a") }] },
  };
  for (const [what, recipe] of Object.entries(hostile))
    it(`are refused: ${what}`, () => {
      assert.throws(() => read(recipe), BadNameAnswer);
    });

  it("have names that continue elsewhere 32 times at most", () => {
    // Where the data of the first record are: each two bytes of them point to those before, the first to the question.
    const start = 48;
    const after = (jumps: number) => {
      const offsets = [12, ...Array.from({ length: jumps - 1 }, (_, i) => start + 2 * i)];
      const [owner, ...rest] = offsets.reverse().map((at) => Buffer.of(0xc0 | (at >> 8), at & 0xff));
      const chain = { owner: sameName, type: 99, data: Buffer.concat(rest.reverse()) };
      return read({ records: [chain, { ...textRecord("found"), owner: owner! }] }).texts;
    };
    for (const jumps of [1, 2, 32]) assert.deepEqual(after(jumps), ["found"]);
    assert.throws(() => after(33), BadNameAnswer);
  });

  it("are taken up to the bounds", () => {
    assert.equal(read({ records: many(64) }).texts.length, 64);
    assert.equal(read({ records: [longText(4000)] }).texts[0]!.length, 4080);
    const part = (length: number) => "a".repeat(length);
    const ofLength = (last: number) => [part(63), part(63), part(63), part(last)].join(".");
    assert.deepEqual(read({ records: [alias(ofLength(62))] }).texts, []);
    assert.throws(() => read({ records: [alias(ofLength(63))] }), BadNameAnswer);
  });
});

describe("looking texts up", () => {
  const signal = () => AbortSignal.timeout(300_000);
  const answering = (recipe: Partial<AnswerRecipe>) => (question: Buffer) =>
    framed(answerBytes({ name, id: question.readUInt16BE(0), records: [textRecord("found")], ...recipe }));

  it("asks one server after another until one answers", async (t) => {
    const questions: Buffer[] = [];
    const nonsense = await startNameServer(t, (socket) => socket.end(Buffer.from("\0\x05hello")));
    const tooLong = await startNameServer(t, (socket) => socket.write(Buffer.alloc(70_000, 0xff)));
    const wrongId = await startNameServer(t, (socket, question) =>
      socket.write(answering({ id: question.readUInt16BE(0) ^ 1 })(question)),
    );
    const closing = await startNameServer(t, (socket) => socket.end());
    const good = await startNameServer(t, (socket, question) => {
      questions.push(question);
      for (const byte of answering({})(question)) socket.write(Buffer.of(byte));
    });
    const nobody = { host: "127.0.0.1", port: 1 };
    const servers = [nobody, nonsense, tooLong, wrongId, closing, good];
    const found = await lookUpTexts(name, { servers, signal: signal() });
    assert.deepEqual(found, { texts: ["found"], isAuthenticated: false });
    const [question] = questions;
    assert.deepEqual(question, Buffer.from(writeTextQuestion(name, question!.readUInt16BE(0))));
  });

  it("knows nothing where nobody answers, and leaves a silent server when it is to give up", async (t) => {
    assert.equal(await lookUpTexts(name, { servers: [], signal: signal() }), undefined);
    const giveUp = new AbortController();
    let closed: () => void = () => undefined;
    const isClosed = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const silent = await startNameServer(t, (socket) => {
      socket.once("close", closed);
      giveUp.abort();
    });
    assert.equal(await lookUpTexts(name, { servers: [silent, silent], signal: giveUp.signal }), undefined);
    await isClosed;
  });

  it("leaves a server that stays silent for the next one", async (t) => {
    const silent = await startNameServer(t, () => undefined);
    const good = await startNameServer(t, (socket, question) => socket.write(answering({})(question)));
    const found = await lookUpTexts(name, { servers: [silent, good], signal: signal() });
    assert.deepEqual(found?.texts, ["found"]);
  });
});
