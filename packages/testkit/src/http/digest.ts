import { createHash, randomBytes } from "node:crypto";

const md5 = (text: string): string => createHash("md5").update(text).digest("hex");

/** The challenges of a `WWW-Authenticate` answer, several joined by " || ". */
export function parseChallenges(header: string): Record<string, string>[] {
  return header.split(" || ").map((challenge) => {
    const fields: Record<string, string> = {};
    for (const [, name, quoted, plain] of challenge.matchAll(/(\w+)=(?:"([^"]*)"|([\w-]+))/g)) {
      fields[name!] = quoted ?? plain ?? "";
    }
    return fields;
  });
}

export type DigestLogin = {
  readonly user: string;
  readonly password: string;
  readonly method: string;
  readonly path: string;
};

/** Value of the `Authorization` header that answers a challenge (MD5 or MD5-sess, qop=auth). Source: RFC 7616. */
export function digestAnswer(challenge: Readonly<Record<string, string>>, login: DigestLogin): string {
  const { realm = "", nonce = "", algorithm = "MD5" } = challenge;
  const client = randomBytes(8).toString("hex");
  const count = "00000001";
  const plain = md5(`${login.user}:${realm}:${login.password}`);
  const secret = algorithm === "MD5-sess" ? md5(`${plain}:${nonce}:${client}`) : plain;
  const request = md5(`${login.method}:${login.path}`);
  const response = md5(`${secret}:${nonce}:${count}:${client}:auth:${request}`);
  const fields = [
    `username="${login.user}"`,
    `realm="${realm}"`,
    `nonce="${nonce}"`,
    `uri="${login.path}"`,
    `algorithm=${algorithm}`,
    "qop=auth",
    `nc=${count}`,
    `cnonce="${client}"`,
    `response="${response}"`,
  ];
  return `Digest ${fields.join(", ")}`;
}
