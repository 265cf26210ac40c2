import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** Credentials that every request must prove. */
export type Login = { readonly user: string; readonly password: string };

/** `stale`: right credentials, but the nonce is used or old; the client should try again with a new one. */
type Verdict = "ok" | "refused" | "stale";

export interface DigestAuth {
  /** Values of the two WWW-authenticate headers: one for MD5, one for MD5-sess. */
  challenge(stale: boolean): readonly [string, string];
  check(request: {
    readonly method: string;
    readonly url: string;
    readonly authorization: string | undefined;
  }): Verdict;
}

const REALM = "monero-rpc";
const NONCE_LIFETIME_MS = 10 * 60 * 1000;
/** Maximum number of nonces whose counters are stored; one that was dropped, and any older one, gets `stale`. */
const MAX_SESSIONS = 4096;
/** How far counters may arrive out of order, as they do on parallel connections. */
const WINDOW = 64;

/** Only this server reads the times in its nonces, and the system's clock may be set back. */
const elapsedMs = (): number => Math.floor(performance.now());

/**
 * HTTP digest authentication with MD5 and MD5-sess, quality `auth`. A nonce is signed by this server instead of stored,
 * so any connection may use it; each of its counter values is accepted once. The original's client sends no nonce of
 * its own. Source: RFC 2617; RFC 2069; contrib/epee/src/http_auth.cpp; recordings `node_login`.
 */
export function createDigestAuth(login: Login, now: () => number = elapsedMs): DigestAuth {
  const key = randomBytes(32);
  const sessions = createSessions();

  return {
    challenge: (stale) => {
      const nonce = makeNonce(key, now());
      return [challengeText("MD5", nonce, stale), challengeText("MD5-sess", nonce, stale)];
    },
    check: ({ method, url, authorization }) => {
      const fields = parseAuthorization(authorization);
      if (fields === undefined || !hasRightResponse(fields, { login, method, url })) return "refused";
      const madeAt = nonceTime(key, fields.nonce);
      if (madeAt === undefined || now() - madeAt > NONCE_LIFETIME_MS) return "stale";
      // If a client does not count its uses of a nonce, the first one is accepted.
      const count = fields.qop === undefined ? 1 : Number.parseInt(fields.nc, 16);
      return sessions.countOnce({ text: fields.nonce, madeAt }, count) ? "ok" : "stale";
    },
  };
}

function challengeText(algorithm: string, nonce: string, stale: boolean): string {
  return `Digest qop="auth",algorithm=${algorithm},realm="${REALM}",nonce="${nonce}",stale=${stale}`;
}

/** Six bytes of time, six random bytes, twelve bytes of signature; base64. */
function makeNonce(key: Buffer, time: number): string {
  const head = Buffer.alloc(12);
  head.writeUIntBE(time, 0, 6);
  randomBytes(6).copy(head, 6);
  return Buffer.concat([head, signatureOf(key, head)]).toString("base64");
}

function signatureOf(key: Buffer, head: Buffer): Buffer {
  return createHmac("sha256", key).update(head).digest().subarray(0, 12);
}

/** The time at which this server created the nonce; undefined if it did not. */
function nonceTime(key: Buffer, nonce: string): number | undefined {
  const bytes = Buffer.from(nonce, "base64");
  if (bytes.length !== 24 || bytes.toString("base64") !== nonce) return undefined;
  const head = bytes.subarray(0, 12);
  if (!timingSafeEqual(signatureOf(key, head), bytes.subarray(12))) return undefined;
  return head.readUIntBE(0, 6);
}

type Fields = {
  readonly username: string;
  readonly realm: string;
  readonly nonce: string;
  readonly uri: string;
  readonly response: string;
  /** Left out by clients of RFC 2069. */
  readonly qop?: string;
  readonly nc: string;
  /** "" if it was left out, as by the original's client. */
  readonly cnonce: string;
  readonly algorithm?: string;
};

const FIELD = /\s*([a-zA-Z]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))\s*(?:,|$)/y;
const REQUIRED = ["username", "realm", "nonce", "uri", "response"] as const;
const MAX_HEADER = 4096;

function parseAuthorization(header: string | undefined): Fields | undefined {
  const start = /^digest\s+/i.exec(header ?? "");
  if (header === undefined || start === null || header.length > MAX_HEADER) return undefined;
  const fields = new Map<string, string>();
  FIELD.lastIndex = start[0].length;
  while (FIELD.lastIndex < header.length) {
    const match = FIELD.exec(header);
    if (match === null) return undefined;
    const name = match[1]!.toLowerCase();
    if (fields.has(name)) return undefined;
    fields.set(name, match[2]?.replace(/\\(.)/g, "$1") ?? match[3]!);
  }
  if (REQUIRED.some((name) => !fields.has(name))) return undefined;
  const { nc = "", cnonce = "", ...others } = Object.fromEntries(fields);
  if (fields.has("qop") && !/^[0-9a-fA-F]{8}$/.test(nc)) return undefined;
  return { ...others, nc, cnonce } as Fields;
}

const md5 = (text: string): string => createHash("md5").update(text, "utf8").digest("hex");

/** The `response` that a client with these credentials sends. */
export function digestResponse(
  fields: Omit<Fields, "response" | "username" | "realm">,
  { login, method }: { readonly login: Login; readonly method: string },
): string {
  const { nonce, uri, qop, nc, cnonce, algorithm = "MD5" } = fields;
  const target = md5(`${method}:${uri}`);
  const plain = md5(`${login.user}:${REALM}:${login.password}`);
  const secret = algorithm.toLowerCase() === "md5-sess" ? md5(`${plain}:${nonce}:${cnonce}`) : plain;
  const counted = qop === undefined ? "" : `${nc}:${cnonce}:${qop}:`;
  return md5(`${secret}:${nonce}:${counted}${target}`);
}

function hasRightResponse(
  fields: Fields,
  request: { readonly login: Login; readonly method: string; readonly url: string },
): boolean {
  const algorithm = (fields.algorithm ?? "MD5").toLowerCase();
  const formal =
    (fields.qop === undefined || fields.qop === "auth") &&
    fields.realm === REALM &&
    pathOf(fields.uri) === request.url &&
    (algorithm === "md5" || algorithm === "md5-sess");
  const right = isSameText(fields.response.toLowerCase(), digestResponse(fields, request));
  const isUserRight = isSameText(fields.username, request.login.user);
  return formal && right && isUserRight;
}

/** Clients may send the whole URL. Source: RFC 2617, section 3.2.2.5. */
function pathOf(uri: string): string {
  return uri.replace(/^https?:\/\/[^/]*/i, "");
}

/** Compares in constant time. */
function isSameText(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(md5(a)), Buffer.from(md5(b)));
}

/** The highest counter seen and which of those just below it were seen, as bits; and when its nonce was created. */
type Counter = { highest: number; counts: bigint; readonly madeAt: number };

/** The counters of the nonces in use. */
function createSessions() {
  const counters = new Map<string, Counter>();
  /** When the newest nonce was made that is remembered no more: nothing is known of it and those before it. */
  let forgottenUntil = Number.NEGATIVE_INFINITY;
  return {
    /** True the first time a counter value of a nonce is seen. */
    countOnce(nonce: { readonly text: string; readonly madeAt: number }, count: number): boolean {
      const existing = counters.get(nonce.text);
      if (existing === undefined && nonce.madeAt <= forgottenUntil) return false;
      const counter = existing ?? { highest: 0, counts: 1n, madeAt: nonce.madeAt };
      if (!countIn(counter, count)) return false;
      counters.delete(nonce.text);
      counters.set(nonce.text, counter);
      if (counters.size > MAX_SESSIONS) {
        const [oldest, { madeAt }] = counters.entries().next().value!;
        counters.delete(oldest);
        forgottenUntil = Math.max(forgottenUntil, madeAt);
      }
      return true;
    },
  };
}

/** False where the value was counted before, or is too far behind to know. */
function countIn(counter: Counter, count: number): boolean {
  const ahead = count - counter.highest;
  if (ahead > 0) {
    counter.counts = BigInt.asUintN(WINDOW, counter.counts << BigInt(Math.min(ahead, WINDOW))) | 1n;
    counter.highest = count;
    return true;
  }
  if (-ahead >= WINDOW) return false;
  const bit = 1n << BigInt(-ahead);
  if ((counter.counts & bit) !== 0n) return false;
  counter.counts |= bit;
  return true;
}
