/** Webhooks of a log beside a receiver, on a clock of their own. */
import { test } from "node:test";
import { type EventLog, openWebhooks, type Webhooks, type WebhooksOptions } from "../src/index.ts";
import { memoryPlace, openLog, type Place, TestClock, until } from "./harness.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const upTo = (last: number, first = 1) =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i);

export interface Scene {
  readonly place: Place;
  readonly log: EventLog;
  readonly clock: TestClock;
  readonly hooks: Webhooks;
  readonly receiver: Receiver;
  readonly open: (options?: Partial<WebhooksOptions>) => Promise<Webhooks>;
}

export const openHooks = (log: EventLog, clock: TestClock, options: Partial<WebhooksOptions> = {}) =>
  openWebhooks({ log, clock, random: () => 0.5, allowsPrivate: true, ...options });

/** The log whose rows can't be written while this holds. */
export function failingLog(log: EventLog, isFull: () => boolean): EventLog {
  const rows: EventLog["rows"] = {
    ...log.rows,
    write: async (step) => {
      if (isFull()) throw new Error("no space left");
      await log.rows.write(step);
    },
  };
  return new Proxy(log, {
    get: (target, name) => {
      if (name === "rows") return rows;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value as () => unknown).bind(target) : value;
    },
  });
}

/** A log with webhooks and a receiver, all of them ended afterwards. */
export const at = (
  title: string,
  check: (scene: Scene) => Promise<void>,
  options: Partial<WebhooksOptions> = {},
) =>
  test(title, async () => {
    const place = memoryPlace();
    const clock = new TestClock();
    const log = await openLog(place, { clock, leaseMs: 400 * DAY });
    const receiver = await startReceiver();
    const opened: Webhooks[] = [];
    const open = async (others: Partial<WebhooksOptions> = {}) => {
      const hooks = await openHooks(log, clock, { ...options, ...others });
      opened.push(hooks);
      return hooks;
    };
    try {
      await check({ place, log, clock, receiver, hooks: await open(), open });
    } finally {
      for (const hooks of opened) await hooks.close();
      await log.close();
      await receiver.stop();
      await place.stop();
    }
  });

/** Lets time pass until this holds: what is being sent meanwhile may be given up. */
export async function passUntil(clock: TestClock, holds: () => boolean, step: number): Promise<void> {
  await until(async () => {
    if (!holds()) await clock.pass(step);
    return holds();
  });
}

/** Lets time pass whenever every hook that is not through waits for its next attempt, until they all are. */
export async function passPauses(clock: TestClock, hooks: Webhooks, log: EventLog): Promise<void> {
  await until(async () => {
    const left = hooks.list().filter(({ sequence }) => sequence < log.last);
    const next = Math.min(...left.map(({ nextAttempt }) => nextAttempt * 1000));
    if (left.length > 0 && next > clock.now()) await clock.pass(next - clock.now());
    return left.length === 0;
  });
}

/** Once nothing more comes: the hook has been sent all there is. */
export const isThrough = (hooks: Webhooks, log: EventLog) => () =>
  hooks.list().every(({ sequence }) => sequence === log.last);
