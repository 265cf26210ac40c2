/** The event log of a fleet with its webhooks, as the service of any of its processes uses them. */
import type { InternalTarget } from "@anulo/rpc";
import type { OpenEvents, ServiceEvents, ServiceWebhooks } from "../../service-events.ts";
import type { Router } from "../router.ts";
import { LogHolder, type LogHolderParts } from "./log-holder.ts";
import { logTarget, type WebhookMethod } from "./log-requests.ts";
import { SharedLog, type SharedLogParts } from "./shared-log.ts";

export type FleetEventsParts = Omit<LogHolderParts, "membership"> &
  Pick<SharedLogParts, "isHere"> & {
    readonly membership: LogHolderParts["membership"];
    readonly router: () => Pick<Router, "ask">;
    readonly restricted: boolean;
  };

export class FleetEvents implements ServiceEvents {
  readonly holder: LogHolder;
  readonly log: SharedLog;
  /** What other processes ask of this one. */
  readonly target: InternalTarget;

  constructor(parts: FleetEventsParts) {
    const { membership, router, isHere, elapsed, restricted } = parts;
    const holder = new LogHolder(parts);
    this.holder = holder;
    this.log = new SharedLog({
      holder,
      router: { ask: (...question) => router().ask(...question) },
      process: () => membership()?.process,
      isHere,
      elapsed,
    });
    this.target = logTarget(() => holder.here, restricted);
  }

  get opened(): OpenEvents | undefined {
    return this.holder.here;
  }

  get isAnswering(): boolean {
    return this.log.isAnswering;
  }

  /** Those of the process that has the log. Repeating one that adds or sends something might do it twice. */
  readonly webhooks: ServiceWebhooks = {
    add: (webhook) => this.#ask("add", [webhook], (webhooks) => webhooks.add(webhook), false),
    list: () => this.#ask("list", [], async (webhooks) => webhooks.list()),
    remove: (id) => this.#ask("remove", [id], (webhooks) => webhooks.remove(id), false),
    enable: (id) => this.#ask("enable", [id], (webhooks) => webhooks.enable(id)),
    deadLetters: (id, after = 0) =>
      this.#ask("deadLetters", [id, after], (webhooks) => webhooks.deadLetters(id, after)),
    replay: (id) => this.#ask("replay", [id], (webhooks) => webhooks.replay(id), false),
  };

  #ask<T>(
    method: WebhookMethod,
    params: readonly unknown[],
    here: (webhooks: OpenEvents["webhooks"]) => Promise<T>,
    mayRepeat = true,
  ): Promise<T> {
    return this.log.run<T>({
      here: ({ webhooks }) => here(webhooks),
      question: { ask: "webhooks", method, params },
      mayRepeat,
    });
  }

  beginToLeave(): void {
    this.log.beginToLeave();
    this.holder.beginToLeave();
  }

  async close(): Promise<void> {
    this.log.close();
    await this.holder.leave();
  }
}
