/** The tokens of a service. */
import { timingSafeEqual } from "node:crypto";
import { matchesPattern } from "@anulo/events";
import { scopes as allScopes, type Bearer, type NeededScope, type Scope, type TokenAuth } from "@anulo/rpc";
import { walletNameOf } from "../file/wallet-files.ts";
import { WalletRefusal } from "../refusal.ts";
import type { Runtime } from "../runtime.ts";
import { TaskQueue } from "../turns.ts";
import type { AuditLog } from "./audit-log.ts";
import { hashOf, makeToken, parseTokens, readToken, serializeTokens, type TokenRecord } from "./token.ts";

/** Maximum number of tokens, including those that became invalid lately. */
const MAX_TOKENS = 1000;
const MAX_NAMES = 32;
const MAX_PATTERN_LENGTH = 255;
const NAME = /^[ -~]{1,64}$/;
const HOUR = 3600;
/** Seconds for which an invalid token is still listed. */
const KEPT_SECONDS = 30 * 24 * HOUR;
const ALL = "*";
const NO_HASH = Buffer.alloc(32);

/** The properties of a new token; times in seconds, amounts in atomic units. */
export type TokenOrder = {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly wallets: readonly string[];
  /** 0 if it never expires. */
  readonly validSeconds: number;
  readonly capHour: bigint | undefined;
  readonly capDay: bigint | undefined;
};

export type NewToken = { readonly id: string; readonly text: string };

export type TokenBookParts = {
  readonly keep: (text: string) => Promise<void>;
  /** Returns seconds since 1970. */
  readonly now: () => number;
  readonly random: Runtime["random"];
  readonly audit: AuditLog;
};

/** A token that a request was sent with. */
export class LiveToken implements Bearer {
  record: TokenRecord;
  readonly #parts: Pick<TokenBookParts, "audit" | "now">;
  readonly #ending = new AbortController();
  /** SHA-256 of its secret, 32 bytes. */
  readonly hash: Buffer;

  constructor(record: TokenRecord, parts: Pick<TokenBookParts, "audit" | "now">) {
    this.record = record;
    this.hash = Buffer.from(record.hash, "hex");
    this.#parts = parts;
  }

  get id(): string {
    return this.record.id;
  }

  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  /** Whether it is neither expired nor revoked. */
  get isValid(): boolean {
    return this.record.revoked === 0 && this.secondsLeft > 0;
  }

  /** Seconds until it expires; Infinity if it never does. */
  get secondsLeft(): number {
    const { expires } = this.record;
    return expires === 0 ? Number.POSITIVE_INFINITY : expires - this.#parts.now();
  }

  get isCapped(): boolean {
    return this.record.capHour !== undefined || this.record.capDay !== undefined;
  }

  /** Whether it covers every wallet, and so calls that concern all of them. */
  get isForAll(): boolean {
    return this.record.wallets.includes(ALL);
  }

  allows(scope: NeededScope | undefined): boolean {
    return scope === "any" || (scope !== undefined && this.record.scopes.includes(scope));
  }

  /** Whether it covers the wallet that a name opens: with the ending of its keys file or without. */
  mayUse(name: string): boolean {
    return this.covers(walletNameOf(name));
  }

  /** Whether it covers a wallet, by its own name, without an ending; "" for one without files. */
  covers(wallet: string): boolean {
    return this.record.wallets.some((pattern) => matchesPattern(wallet, pattern));
  }

  onRefused(what: string): void {
    this.#parts.audit.refused(this.id, what);
  }

  end(): void {
    this.#ending.abort();
  }
}

const refuse = (why: string) => new WalletRefusal("UNKNOWN_ERROR", why);

export class TokenBook implements TokenAuth {
  readonly #parts: TokenBookParts;
  readonly #tokens = new Map<string, LiveToken>();
  readonly #turns = new TaskQueue();

  /** Starts with the stored tokens. Throws if the text is not a list of tokens. */
  constructor(storedText: string | undefined, parts: TokenBookParts) {
    this.#parts = parts;
    for (const record of storedText === undefined ? [] : parseTokens(storedText))
      this.#tokens.set(record.id, new LiveToken(record, parts));
  }

  /** Whether there is no valid token. */
  get isEmpty(): boolean {
    return ![...this.#tokens.values()].some(({ isValid }) => isValid);
  }

  /** The token with this id, as long as it is stored, valid or not. */
  of(id: string): LiveToken | undefined {
    return this.#tokens.get(id);
  }

  /** The tokens in the order in which they were created. */
  list(): TokenRecord[] {
    return [...this.#tokens.values()].map(({ record }) => record);
  }

  check(text: string): LiveToken | undefined {
    const parts = readToken(text);
    if (parts === undefined) return this.#parts.audit.unknown();
    const token = this.#tokens.get(parts.id);
    // The comparison always takes place, so that its duration does not reveal which ids exist.
    const isRight = timingSafeEqual(hashOf(parts.secret), token?.hash ?? NO_HASH);
    if (token === undefined || !isRight || !token.isValid) return this.#parts.audit.unknown();
    this.#noteUse(token);
    return token;
  }

  /**
   * Creates a token; returns its id and the text that its bearer sends, which is never available again. A token created
   * with another token gets no more rights than that one has. If there is a callback `tell`, it receives the text
   * before the token is stored. Throws `WalletRefusal`.
   */
  create(
    order: TokenOrder,
    by: LiveToken | undefined,
    tell?: (text: string) => Promise<void>,
  ): Promise<NewToken> {
    checkOrder(order);
    return this.#turns.run(async () => {
      // Only now, since a token may have become invalid while it waited for its turn.
      if (by !== undefined) checkWithin(order, by);
      this.#forgetOld();
      if (this.#tokens.size >= MAX_TOKENS) this.#forgetLongestEnded();
      const { text, id, hash } = makeToken(this.#parts.random);
      await tell?.(text);
      const created = this.#parts.now();
      const { name, wallets, capHour, capDay, validSeconds } = order;
      const scopes = allScopes.filter((scope) => order.scopes.includes(scope));
      const expires = validSeconds === 0 ? 0 : created + validSeconds;
      const record = {
        id,
        hash,
        name,
        scopes,
        wallets,
        created,
        expires,
        capHour,
        capDay,
        lastUsed: 0,
        revoked: 0,
      };
      this.#tokens.set(id, new LiveToken(record, this.#parts));
      await this.#keep().catch((error: unknown) => {
        this.#tokens.delete(id);
        throw error;
      });
      this.#parts.audit.created(record, by?.id ?? (tell === undefined ? "login" : "start"));
      return { id, text };
    });
  }

  /** Revokes a token; false if there is none with this id. Throws `WalletRefusal` if that can't be stored. */
  revoke(id: string, by: LiveToken | undefined): Promise<boolean> {
    return this.#turns.run(async () => {
      const token = this.#tokens.get(id);
      if (token === undefined) return false;
      const isNew = token.record.revoked === 0;
      if (isNew) token.record = { ...token.record, revoked: Math.max(1, this.#parts.now()) };
      token.end();
      // Written again if it was revoked before, since that write may have failed.
      await this.#keep();
      if (isNew) this.#parts.audit.revoked(token.record, by?.id);
      return true;
    });
  }

  /** Waits until pending writes have ended. */
  whenIdle(): Promise<void> {
    return this.#turns.whenIdle();
  }

  #noteUse(token: LiveToken): void {
    const { lastUsed } = token.record;
    const now = this.#parts.now();
    if (lastUsed !== 0 && now < lastUsed + HOUR) return;
    token.record = { ...token.record, lastUsed: now };
    if (lastUsed === 0) this.#parts.audit.firstUsed(token.record);
    // A record of use that a crash loses is written again at the next use.
    void this.#turns.run(() => this.#keep()).catch(() => undefined);
  }

  #forgetOld(): void {
    const before = this.#parts.now() - KEPT_SECONDS;
    for (const [id, { record, isValid }] of this.#tokens)
      if (!isValid && Math.max(record.revoked, record.expires) < before) this.#tokens.delete(id);
  }

  /** Makes room for a token. Throws `WalletRefusal` if all are valid. */
  #forgetLongestEnded(): void {
    const ended = this.list().filter(({ id }) => !this.#tokens.get(id)!.isValid);
    if (ended.length === 0) throw refuse(`there are ${MAX_TOKENS} tokens, which is the most`);
    const { id } = ended.reduce((first, next) => (endOf(next) < endOf(first) ? next : first));
    this.#tokens.delete(id);
  }

  async #keep(): Promise<void> {
    try {
      await this.#parts.keep(serializeTokens(this.list()));
    } catch (error) {
      throw refuse(`the tokens can't be written: ${(error as Error).message}`);
    }
  }
}

/** When an invalid token ended, in seconds since 1970. */
function endOf({ revoked, expires }: TokenRecord): number {
  return Math.min(revoked || Number.POSITIVE_INFINITY, expires || Number.POSITIVE_INFINITY);
}

/** Throws `WalletRefusal` for properties that no token can have. */
function checkOrder({ name, scopes, wallets, capHour, capDay }: TokenOrder): void {
  if (!NAME.test(name)) throw refuse("a token's name has 1 to 64 printable characters");
  const unknown = scopes.find((scope) => !(allScopes as readonly string[]).includes(scope));
  if (unknown !== undefined) throw refuse(`there is no such scope; there are ${allScopes.join(", ")}`);
  if (scopes.length === 0) throw refuse("a token needs a scope");
  const isBounded = wallets.every((pattern) => pattern.length <= MAX_PATTERN_LENGTH);
  if (wallets.length === 0 || wallets.length > MAX_NAMES || !isBounded)
    throw refuse(`a token needs 1 to ${MAX_NAMES} patterns of names, each up to ${MAX_PATTERN_LENGTH} long`);
  if (capHour === undefined && capDay === undefined) return;
  const wide = scopes.find((scope) => scope === "secrets" || scope === "admin");
  if (wide !== undefined) throw refuse(`a cap means nothing beside the scope ${wide}`);
}

/** Throws `WalletRefusal` if a token is to have more rights than the one used to create it. */
function checkWithin({ scopes, wallets, validSeconds }: TokenOrder, by: LiveToken): void {
  if (!by.isValid) throw refuse("this token has ended");
  const more = scopes.find((scope) => !by.allows(scope as Scope));
  if (more !== undefined) throw refuse(`this token can't give the scope ${more}, which it lacks`);
  if (!by.isForAll && !wallets.every((pattern) => by.record.wallets.includes(pattern)))
    throw refuse("this token can't give wallets that it lacks");
  if ((validSeconds === 0 ? Number.POSITIVE_INFINITY : validSeconds) > by.secondsLeft)
    throw refuse("this token can't give more time than it has");
}
