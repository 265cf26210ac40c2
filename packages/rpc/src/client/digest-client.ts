import { randomBytes } from "node:crypto";
import { digestResponse, type Login } from "../digest-auth.ts";

export interface DigestClient {
  /** Authorization header of the next request, or undefined before the first challenge. */
  authorization(method: string, uri: string): string | undefined;
  /** Accepts a new challenge; false if none is supported or the credentials were rejected. */
  accept(challenges: readonly string[]): boolean;
}

/** Responds to digest challenges (MD5, MD5-sess, quality `auth`) and counts the uses of a nonce. Source: RFC 2617. */
export function createDigestClient(login: Login): DigestClient {
  let nonce = "";
  let algorithm = "MD5";
  let count = 0;
  return {
    authorization: (method, uri) => {
      if (nonce === "") return undefined;
      count++;
      const nc = count.toString(16).padStart(8, "0");
      const cnonce = randomBytes(8).toString("hex");
      const fields = { nonce, uri, qop: "auth", nc, cnonce, algorithm };
      const response = digestResponse(fields, { login, method });
      return (
        `Digest username="${escaped(login.user)}", realm="monero-rpc", nonce="${nonce}", uri="${uri}", ` +
        `qop=auth, nc=${nc}, cnonce="${cnonce}", response="${response}", algorithm=${algorithm}`
      );
    },
    accept: (challenges) => {
      const challenge = challenges.map(parseChallenge).find((parsed) => parsed !== undefined);
      if (challenge === undefined || (nonce !== "" && !challenge.stale)) return false;
      nonce = challenge.nonce;
      algorithm = challenge.algorithm;
      count = 0;
      return true;
    },
  };
}

function escaped(text: string): string {
  return text.replace(/["\\]/g, "\\$&");
}

type Challenge = { readonly nonce: string; readonly algorithm: string; readonly stale: boolean };

function parseChallenge(header: string): Challenge | undefined {
  const nonce = /\bnonce="([\x21\x23-\x7e]{1,256})"/.exec(header)?.[1];
  const algorithm = /\balgorithm="?(MD5(?:-sess)?)\b/i.exec(header)?.[1] ?? "MD5";
  if (!/^digest\s/i.test(header) || nonce === undefined || !/\brealm="monero-rpc"/.test(header))
    return undefined;
  return { nonce, algorithm, stale: /\bstale="?true/i.test(header) };
}
