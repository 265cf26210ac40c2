import { md5 } from "@noble/hashes/legacy.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

export type Login = { readonly user: string; readonly password: string };

/** Responds to challenges of HTTP digest authentication, and counts the uses of a nonce. */
export interface Digest {
  /** Value of the header Authorization, or undefined before the first challenge. */
  authorization(method: string, uri: string): string | undefined;
  /** Accepts the challenges of a response (status 401); false if none is supported, or the login was rejected. */
  accept(header: string): boolean;
}

const md5Text = (text: string): string => bytesToHex(md5(utf8ToBytes(text)));
const randomHex = (bytes: number): string => bytesToHex(crypto.getRandomValues(new Uint8Array(bytes)));
const quoted = (text: string): string => `"${text.replace(/["\\]/g, "\\$&")}"`;

type Challenge = {
  readonly realm: string;
  readonly nonce: string;
  readonly isSession: boolean;
  readonly isStale: boolean;
};

/** MD5 and MD5-sess, quality `auth`, as monerod and monero-wallet-rpc require. Source: RFC 7616, RFC 2617. */
export function createDigest({ user, password }: Login): Digest {
  let challenge: Challenge | undefined;
  let count = 0;
  return {
    authorization(method, uri) {
      if (challenge === undefined) return undefined;
      const { realm, nonce, isSession } = challenge;
      const nc = (++count).toString(16).padStart(8, "0");
      const cnonce = randomHex(8);
      const plain = md5Text(`${user}:${realm}:${password}`);
      const secret = isSession ? md5Text(`${plain}:${nonce}:${cnonce}`) : plain;
      const response = md5Text(`${secret}:${nonce}:${nc}:${cnonce}:auth:${md5Text(`${method}:${uri}`)}`);
      return (
        `Digest username=${quoted(user)}, realm=${quoted(realm)}, nonce=${quoted(nonce)}, uri=${quoted(uri)}, ` +
        `qop=auth, nc=${nc}, cnonce="${cnonce}", response="${response}", algorithm=${isSession ? "MD5-sess" : "MD5"}`
      );
    },
    accept(header) {
      const challengeFields = parseChallenges(header)[0];
      if (challengeFields === undefined || (challenge !== undefined && !challengeFields.isStale))
        return false;
      challenge = challengeFields;
      count = 0;
      return true;
    },
  };
}

const MAX_HEADER = 4096;

/** The supported challenges of a header that may contain several. */
function parseChallenges(header: string): Challenge[] {
  return header
    .slice(0, MAX_HEADER)
    .split(/(?:^|,)\s*Digest\s+/i)
    .map(parseChallenge)
    .filter((challenge) => challenge !== undefined);
}

function parseChallenge(text: string): Challenge | undefined {
  const realm = /\brealm="([^"\\]*)"/i.exec(text)?.[1];
  const nonce = /\bnonce="([^"\\]*)"/i.exec(text)?.[1];
  const algorithm = /\balgorithm="?([\w-]+)/i.exec(text)?.[1]?.toLowerCase() ?? "md5";
  if (realm === undefined || nonce === undefined || !/^md5(?:-sess)?$/.test(algorithm)) return undefined;
  const isStale = /\bstale="?true/i.test(text);
  return { realm, nonce, isSession: algorithm === "md5-sess", isStale };
}
