/** Routers in front of services, over real connections between processes that are none. */
import type { TestContext } from "node:test";
import { createRpcServer, notAllowed, Passes } from "@anulo/rpc";
import type { FleetMember } from "@anulo/store";
import { Router } from "../src/fleet/router.ts";

/** Longer than a busy machine keeps a process from answering that it lives. */
export const LONG_MS = 60_000;
const key = new Uint8Array(32).fill(5);
export const idOf = (digit: string) => digit.repeat(32);

/** What the processes of a test think the database says. */
export class Fleet {
  readonly owners = new Map<string, string>();
  members: FleetMember[] = [];
  /** Errors of the next questions for an owner. */
  readonly errors: Error[] = [];

  async ownerOf(name: string): Promise<string | undefined> {
    const error = this.errors.shift();
    if (error !== undefined) throw error;
    return this.owners.get(name);
  }
}

export type Peer = {
  readonly router: Router;
  readonly url: string;
  readonly held: Set<string>;
  /** Those of them that are being handed over. */
  readonly handingOver: Set<string>;
  isSure: boolean;
  /** Its answers wait for this. */
  slow: Promise<void> | undefined;
  readonly process: string;
  /** Number of requests with a pass that have come. */
  passes(): number;
};

/** A router in front of a service that answers with its process's name. */
export async function peer(
  t: TestContext,
  fleet: Fleet,
  process: string,
  { restricted = false, aliveMs = LONG_MS }: { restricted?: boolean; aliveMs?: number } = {},
): Promise<Peer> {
  const held = new Set<string>();
  const handingOver = new Set<string>();
  const state: { isSure: boolean; slow: Promise<void> | undefined } = { isSure: true, slow: undefined };
  const membership = {
    process,
    get members() {
      return fleet.members;
    },
    get owned() {
      return held.size;
    },
    get isSure() {
      return state.isSure;
    },
    get address() {
      return fleet.members.find((member) => member.process === process)?.address ?? "";
    },
    isHere: (name: string) => held.has(name) && state.isSure,
    isHandingOver: (name: string) => handingOver.has(name),
  };
  const router = new Router({
    membership: () => membership,
    leases: fleet,
    passes: new Passes(key),
    restricted,
    elapsed: () => performance.now(),
    aliveMs,
  });
  let handled = 0;
  let passes = 0;
  const server = await createRpcServer({
    calls: [],
    prefix: "/wallets",
    listen: [
      { host: "127.0.0.1", port: 0 },
      { host: "127.0.0.1", port: 0, isForPeers: true },
    ],
    context: () => handled++,
    limits: { halfClosedMs: 200 },
    elsewhere: {
      passOf: (head) => {
        passes += 1;
        return router.passOf(head);
      },
      answer: async (request) => {
        await (request.isPassedOn ? state.slow : undefined);
        if (Buffer.from(request.body).includes("acts") && !request.mayAct) return notAllowed;
        const body = `${process[0]} ${request.name}${request.restricted ? " restricted" : ""}`;
        return (await router.answer(request)) ?? { status: 200, type: "text/plain", body };
      },
    },
  });
  t.after(async () => {
    router.close();
    await server.stop(0);
  });
  fleet.members = [
    ...fleet.members,
    { process, address: new URL(server.urls[1]!).host, owned: 0, silentMs: 0 },
  ];
  return {
    router,
    url: server.urls[0]!,
    held,
    handingOver,
    process,
    passes: () => passes,
    set isSure(isSure: boolean) {
      state.isSure = isSure;
    },
    get isSure() {
      return state.isSure;
    },
    set slow(slow: Promise<void> | undefined) {
      state.slow = slow;
    },
    get slow() {
      return state.slow;
    },
  };
}

export async function ask({ url }: Peer, name: string, body = "{}"): Promise<string> {
  const response = await fetch(`${url}/wallets/${name}/json_rpc`, { method: "POST", body });
  return await response.text();
}

export async function three(t: TestContext, aliveMs = LONG_MS) {
  const fleet = new Fleet();
  const [a, b, c] = [
    await peer(t, fleet, idOf("a"), { aliveMs }),
    await peer(t, fleet, idOf("b"), { aliveMs }),
    await peer(t, fleet, idOf("c"), { aliveMs }),
  ];
  return { fleet, a, b, c };
}
