import type { Group } from "../define.ts";
import type { Descriptions } from "./describe-fields.ts";
import type { ErrorCatalogue } from "./error-catalogue.ts";
import type { CallExample } from "./examples.ts";

/** Calls about one subject. */
export type Subject = { readonly name: string; readonly description: string; readonly calls: Group };

/** What the OpenRPC document says of a service besides its declarations. */
export type ServiceReference = {
  readonly title: string;
  /** Release of the original programs whose interface this is. */
  readonly version: string;
  readonly description: string;
  /** Where the service listens by default. */
  readonly server: { readonly url: string; readonly description: string };
  readonly subjects: readonly Subject[];
  readonly descriptions: Descriptions;
  readonly errors: ErrorCatalogue;
  /** Recorded examples by the name of their call. */
  readonly examples: ReadonlyMap<string, readonly CallExample[]>;
};

/** Release of the original programs whose interface both services have. */
export const version = "0.18.5.3";

/** What a reader of any amount has to know. */
export const amountsNote =
  "Amounts are integers in atomic units (1 XMR is 10^12) and may exceed 2^53: read them as big integers.";
