/** SOCKS proxies that want a login: both programs read the same from the same text and say the same to the proxy. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { loadChain } from "@anulo/testkit";
import { mine, needsRealPrograms, onStage } from "../actors.ts";
import { asking, sides, withServices } from "./two-services.ts";

/** Reads as many bytes as each step wants, however they arrive. */
function reader(socket: Socket) {
  let kept = Buffer.alloc(0);
  return async (size: number): Promise<Buffer> => {
    while (kept.length < size) {
      const [more] = (await once(socket, "data")) as [Buffer];
      kept = Buffer.concat([kept, more]);
    }
    const taken = kept.subarray(0, size);
    kept = kept.subarray(size);
    return taken;
  };
}

/** A proxy of version 5 that lets everybody through and notes who he says he is, and where he wants to go. */
async function startProxy(t: TestContext, said: Set<string>): Promise<number> {
  const attend = async (socket: Socket) => {
    const read = reader(socket);
    const [, methods] = await read(2);
    const hasLogin = (await read(methods!)).includes(2);
    socket.write(Buffer.from([5, hasLogin ? 2 : 0]));
    let login = "nobody";
    if (hasLogin) {
      const user = (await read((await read(2))[1]!)).toString();
      login = `${user} ${await read((await read(1))[0]!)}`;
      socket.write(Buffer.from([1, 0]));
    }
    const [, command, , kind] = await read(4);
    const host = [...(await read(4))].join(".");
    const port = (await read(2)).readUInt16BE();
    said.add(`${login}, ${command} ${kind} ${host}`);
    const behind = connect({ host: "127.0.0.1", port });
    behind.on("error", () => socket.destroy());
    t.after(() => behind.destroy());
    socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
    socket.removeAllListeners("data");
    socket.pipe(behind).pipe(socket);
  };
  const server = createServer((socket) => {
    socket.on("error", () => {});
    t.after(() => socket.destroy());
    attend(socket).catch(() => socket.destroy());
  });
  t.after(() => server.close());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as { port: number }).port;
}

const { alice } = loadChain().wallets;
const TEXTS = {
  "socks5://us%3Aer:p%40ss@": "us:er p@ss",
  "socks5://user@": "user ",
  "socks5://": "nobody",
};
const REFUSED = ["socks4://user:pass@", "socks6://", "socks5://us%er:pass@", "http://"];

test("a wallet's node is reached through a proxy with a login", needsRealPrograms, (t) =>
  onStage(async (stage) => {
    const daemon = await stage.daemon("ours", "upstream");
    await mine(daemon, 3, alice.address);
    await withServices({}, async (services) => {
      for (const side of sides) {
        const ask = asking(services[side]);
        const way = { address: `127.0.0.1:${daemon.port}`, trusted: true, ssl_support: "disabled" };
        await ask("auto_refresh", { enable: false });
        await ask("restore_deterministic_wallet", { filename: side, password: "", seed: alice.mnemonic });
        for (const [text, login] of Object.entries(TEXTS)) {
          const said = new Set<string>();
          const port = await startProxy(t, said);
          await ask("set_daemon", { ...way, proxy: `${text}127.0.0.1:${port}` });
          await ask("refresh");
          assert.deepEqual([...said], [`${login}, 1 1 127.0.0.1`], `${side} ${text}`);
        }
        for (const text of REFUSED) {
          // The original notices it at the next call.
          const asked = ask("set_daemon", { ...way, proxy: `${text}127.0.0.1:9050` });
          const refreshed = asked.then(() => ask("refresh"));
          await assert.rejects(refreshed, ({ code }: { code: number }) => code === -38, `${side} ${text}`);
        }
      }
    });
  }),
);
