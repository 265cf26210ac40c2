/** A wallet service as people run it: a process with a login, TLS, a log file and secrets in all its flags. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { createClient, createIdentity, daemonMethods, type Login, walletMethods } from "@anulo/rpc";
import {
  digestAnswer,
  type ExactObject,
  formatExact,
  loadChain,
  parseChallenges,
  type RunningDaemon,
  startDaemon,
} from "@anulo/testkit";
import type { MethodKey } from "../states/requests.ts";
import type { Ask } from "./exercise.ts";
import type { Secret } from "./traces.ts";

const { alice } = loadChain().wallets;
/** Enough for rings of unlocked outputs. */
const BLOCKS = 80;

export const nodeLogin: Login = { user: "towards", password: "bNx4-node-Ho28" };
export const walletLogin: Login = { user: "caller", password: "vCt6-caller-Pa91" };
export const password = "gRk8-wallet-Zu37";

/** What a test starts its processes with. */
export type Surroundings = {
  readonly folder: string;
  readonly node: RunningDaemon;
  /** Flags of TLS towards callers and towards the node, with keys of their own. */
  readonly tls: readonly string[];
  readonly tlsKeys: readonly string[];
};

/** Files of a key and its certificate, and the flags that name them. */
function writeIdentity(folder: string, prefix: string): { flags: string[]; privateKey: string } {
  const { privateKey, certificate } = createIdentity(Date.now());
  const [keyFile, certificateFile] = [join(folder, `${prefix}.key`), join(folder, `${prefix}.pem`)];
  writeFileSync(keyFile, privateKey);
  writeFileSync(certificateFile, certificate);
  const flags = [`--${prefix}-private-key`, keyFile, `--${prefix}-certificate`, certificateFile];
  return { flags, privateKey };
}

export async function surround(t: TestContext): Promise<Surroundings> {
  const folder = mkdtempSync(join(tmpdir(), "anulo-secrets-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const keysFolder = mkdtempSync(join(tmpdir(), "anulo-secrets-"));
  t.after(() => rmSync(keysFolder, { recursive: true, force: true }));
  const towardsCallers = writeIdentity(keysFolder, "rpc-ssl");
  const towardsNode = writeIdentity(keysFolder, "daemon-ssl");
  const login = ["--rpc-login", `${nodeLogin.user}:${nodeLogin.password}`];
  const node = await startDaemon({ kind: "ours" }, { extra: login, tls: ["--rpc-ssl", "autodetect"] });
  t.after(() => node.stop());
  const client = createClient(daemonMethods, node.url, { login: nodeLogin });
  await client.generateBlocks({ amount_of_blocks: BLOCKS, wallet_address: alice.address });
  client.close();
  return {
    folder,
    node,
    tls: [
      ...["--rpc-ssl", "enabled", ...towardsCallers.flags],
      ...["--daemon-ssl", "enabled", "--daemon-ssl-allow-any-cert", ...towardsNode.flags],
    ],
    tlsKeys: [towardsCallers.privateKey, towardsNode.privateKey],
  };
}

type Reply = { readonly status: number; readonly challenge: string; readonly text: string };

/** Sends requests over TLS to a service with a login; a refused or broken exchange is returned as its code. */
export function askingWithLogin(port: number, { user, password }: Login): { ask: Ask; close: () => void } {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  const path = "/json_rpc";
  const exchange = (body: string, authorization?: string) =>
    new Promise<Reply>((resolve, reject) => {
      const headers = { "Content-Type": "application/json", ...(authorization && { authorization }) };
      const options = { host: "127.0.0.1", port, path, method: "POST", agent, headers };
      const sent = request(options, (response) => {
        let text = "";
        response.on("data", (part: Buffer) => {
          text += part.toString("latin1");
        });
        const challenge = response.headers["www-authenticate"] ?? "";
        response.on("end", () => resolve({ status: response.statusCode ?? 0, challenge, text }));
        response.on("error", reject);
      });
      sent.on("error", reject);
      sent.end(body);
    });
  const ask = async (key: MethodKey, params: ExactObject) => {
    const body = formatExact({ jsonrpc: "2.0", id: "0", method: walletMethods[key].name, params });
    try {
      const { challenge } = await exchange(body);
      const [first = {}] = parseChallenges(challenge);
      const { status, text } = await exchange(
        body,
        digestAnswer(first, { user, password, method: "POST", path }),
      );
      return { text, code: status === 200 && !/"error": *\{/.test(text) ? 0 : -1 };
    } catch (error) {
      return { text: String(error), code: -1 };
    }
  };
  return { ask, close: () => agent.destroy() };
}

/** All bytes below a folder, as text of a character a byte. */
export function contentsOf(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n");
}

/** What the processes receive and must not reveal. A PEM's lines of 64 digits each show a part of its key. */
export function secretsOfFlags({ tlsKeys }: Pick<Surroundings, "tlsKeys">): Secret[] {
  const keyLines = tlsKeys.flatMap((pem) => pem.split("\n").filter((line) => /^[\w+/=]{40,}$/.test(line)));
  return [
    { kind: "seed", value: alice.mnemonic },
    { kind: "spend key", value: Buffer.from(alice.spend_key, "hex") },
    { kind: "view key", value: Buffer.from(alice.view_key, "hex") },
    { kind: "wallet password", value: password },
    { kind: "login password", value: nodeLogin.password },
    { kind: "login password", value: walletLogin.password },
    // The first line begins as those of all keys of this kind do.
    ...keyLines.map((line): Secret => ({ kind: "TLS private key", value: line.slice(-30) })),
  ];
}
