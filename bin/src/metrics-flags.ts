import { type MetricsServer, type MetricsServerOptions, startMetricsServer } from "@anulo/metrics";
import type { Logger } from "@anulo/rpc";
import { probeDisk } from "./disk-probe.ts";
import { BadUsage, type FlagTable, type Values } from "./flags.ts";
import { isAddress, isLoopback } from "./rpc-flags.ts";
import { checkPort } from "./service-flags.ts";

/** Flags of both services about monitoring. */
export const metricsFlags = {
  "metrics-bind": {
    kind: "text",
    value: "[ADDRESS:]PORT",
    help: "serve /metrics, /healthz and /readyz there, for reading alone (address 127.0.0.1)",
  },
} as const satisfies FlagTable;

type Flags = Values<typeof metricsFlags> & { readonly "confirm-external-bind": boolean };

/** The address at which metrics are served; undefined if they are not. Throws BadUsage. */
export function metricsAddressOf(flags: Flags): { host: string; port: number } | undefined {
  const text = flags["metrics-bind"];
  if (text === undefined) return undefined;
  const [, hostText = "127.0.0.1", digits = ""] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? [];
  const host = hostText.replace(/^\[(.*)\]$/, "$1");
  if (digits === "" || (host !== "localhost" && !isAddress(host)))
    throw new BadUsage(`--metrics-bind must be [ADDRESS:]PORT: ${text}`);
  if (!isLoopback(host) && !flags["confirm-external-bind"])
    throw new BadUsage(
      `--metrics-bind ${host} opens metrics to others: confirm with --confirm-external-bind`,
    );
  return { host, port: checkPort("metrics-bind", Number(digits)) };
}

export type Watched<Source> = Pick<
  MetricsServerOptions<Source>,
  "host" | "port" | "metrics" | "source" | "checks" | "fault"
> & {
  /** The folder that is written while the service runs; undefined if there is none. */
  readonly folder: string | undefined;
  readonly log: Logger;
};

/** Serves the metrics of a service, and whether it is ready, its disk included. */
export async function serveMetrics<Source>({
  folder,
  log,
  checks,
  ...options
}: Watched<Source>): Promise<MetricsServer> {
  const disk = folder === undefined ? {} : { disk: () => probeDisk(folder) };
  const server = await startMetricsServer({ ...options, checks: { ...checks, ...disk } });
  log.info("metrics are served", { url: server.url });
  return server;
}
