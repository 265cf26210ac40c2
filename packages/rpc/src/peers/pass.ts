/**
 * What a request that one process of a service passes on to another carries, so that nobody else can send one: a MAC
 * of all that counts in it, made for its receiver, with a number that is good once.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { READS_PATH } from "./read-frames.ts";

/** What is passed on, and the caller as its first receiver identified it. */
export type Passed = {
  readonly method: string;
  readonly target: string;
  /** Whether the caller may have something done (`RequestInfo.mayAct`). */
  readonly mayAct: boolean;
  /** Whether the caller's process, or its port, refuses what is not for everybody. */
  readonly restricted: boolean;
  readonly idempotencyKey: string | undefined;
};

/** The contents of a valid pass: the body has to have this SHA-256. */
export type CheckedPass = Pick<Passed, "mayAct" | "restricted"> & {
  readonly bodyHash: Buffer;
  /** The key of a connection that begins with this pass (`Passes.linkKeyOf`), for `READS_PATH` only. */
  readonly linkKey: Uint8Array | undefined;
};

const SCHEME = "Anulo";
const PASS =
  /^Anulo from=([0-9a-f]{32}), to=([0-9a-f]{32}), number=([1-9]\d{0,14}), act=([01]), restricted=([01]), body=([0-9a-f]{64}), mac=([0-9a-f]{64})$/;

/** The path on which a process answers another one that it lives. */
export const ALIVE_PATH = "/alive";

/** Numbers of one sender that may come in another order than they were given. */
const WINDOW = 4096;
/** Senders whose numbers are remembered, beside those that are members; a process that joins anew is another one. */
const MOST_SENDERS = 256;
/** Senders whose numbers were forgotten, and of which nothing is accepted any more. */
const MOST_FORMER = 65_536;

/** The numbers that one sender has used. */
class Numbers {
  #highest = 0;
  readonly #numbers = new Set<number>();

  /** False for one that was used, or may have been. */
  use(number: number): boolean {
    if (number <= this.#highest - WINDOW || this.#numbers.has(number)) return false;
    this.#numbers.add(number);
    this.#highest = Math.max(this.#highest, number);
    if (this.#numbers.size > 2 * WINDOW)
      for (const old of this.#numbers) if (old <= this.#highest - WINDOW) this.#numbers.delete(old);
    return true;
  }
}

/** Makes and checks passes under a key that all processes of the service have. */
export class Passes {
  readonly #key: Uint8Array;
  readonly #senders = new Map<string, Numbers>();
  /** The oldest first. */
  readonly #former = new Set<string>();
  #members: ReadonlySet<string> = new Set();
  #number = 0;

  /** `key`: 32 bytes; stays the caller's. */
  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** To be called with the ids of the processes that are members: their numbers are not forgotten. */
  useMembers(members: ReadonlySet<string>): void {
    this.#members = members;
  }

  /** The header Authorization of a request from one process to another, by their ids (32 hexadecimal digits). */
  write(
    { from, to }: { readonly from: string; readonly to: string },
    passed: Passed,
    body: Uint8Array,
  ): string {
    const number = ++this.#number;
    const bodyHash = createHash("sha256").update(body).digest();
    const mac = this.#macOf({ from, to, number, bodyHash, ...passed }).toString("hex");
    const may = `act=${passed.mayAct ? 1 : 0}, restricted=${passed.restricted ? 1 : 0}`;
    return `${SCHEME} from=${from}, to=${to}, number=${number}, ${may}, body=${bodyHash.toString("hex")}, mac=${mac}`;
  }

  /**
   * Checks a header; undefined where it is not a pass for just this request, or was used before, and `misdirected`
   * where it is one for another process than `own`.
   */
  check(
    authorization: string | undefined,
    own: string | undefined,
    head: Omit<Passed, "mayAct" | "restricted">,
  ): CheckedPass | "misdirected" | undefined {
    const [, from, to, digits, act, limited, hash, mac] = PASS.exec(authorization ?? "") ?? [];
    if (from === undefined || to === undefined || digits === undefined || hash === undefined || !mac)
      return undefined;
    const { method, target, idempotencyKey } = head;
    const number = Number(digits);
    const mayAct = act === "1";
    const restricted = limited === "1";
    const bodyHash = Buffer.from(hash, "hex");
    const stated = { from, to, number, bodyHash, mayAct, restricted, method, target, idempotencyKey };
    const expected = this.#macOf(stated);
    if (!timingSafeEqual(expected, Buffer.from(mac, "hex"))) return undefined;
    if (to !== own) return "misdirected";
    if (this.#numbersOf(from)?.use(number) !== true) return undefined;
    const linkKey = target === READS_PATH ? this.#linkKey(mac) : undefined;
    return { mayAct, restricted, bodyHash, linkKey };
  }

  /** The key (32 bytes) of the connection that begins with a request with this header of `write`. */
  linkKeyOf(authorization: string): Uint8Array {
    return this.#linkKey(PASS.exec(authorization)![7]!);
  }

  /** Each pass is good once, so each connection has another key. */
  #linkKey(mac: string): Uint8Array {
    return createHmac("sha256", this.#key).update("link").update(mac).digest();
  }

  /** Undefined for a sender whose numbers were forgotten: any of its passes may have been used. */
  #numbersOf(sender: string): Numbers | undefined {
    if (this.#former.has(sender)) return undefined;
    const numbers = this.#senders.get(sender) ?? new Numbers();
    // The sender of the latest message comes last.
    this.#senders.delete(sender);
    this.#senders.set(sender, numbers);
    if (this.#senders.size > MOST_SENDERS + this.#members.size) this.#forgetOldest();
    return numbers;
  }

  #forgetOldest(): void {
    for (const sender of this.#senders.keys()) {
      if (this.#members.has(sender)) continue;
      this.#senders.delete(sender);
      this.#former.add(sender);
      break;
    }
    const [oldest] = this.#former;
    if (this.#former.size > MOST_FORMER) this.#former.delete(oldest!);
  }

  #macOf(
    stated: Passed & {
      readonly from: string;
      readonly to: string;
      readonly number: number;
      readonly bodyHash: Buffer;
    },
  ): Buffer {
    const { from, to, number, bodyHash, mayAct, restricted, method, target, idempotencyKey = null } = stated;
    const text = JSON.stringify([from, to, number, mayAct, restricted, method, target, idempotencyKey]);
    return createHmac("sha256", this.#key).update(bodyHash).update(text).digest();
  }
}

/** Whether a body is the one of a pass. */
export function isBodyOf({ bodyHash }: CheckedPass, body: Uint8Array): boolean {
  return timingSafeEqual(createHash("sha256").update(body).digest(), bodyHash);
}
