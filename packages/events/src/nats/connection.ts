import querystring from "node:querystring";
import type { JetStreamClient, JetStreamManager } from "@nats-io/jetstream";
import type { ConnectionOptions, NatsConnection } from "@nats-io/transport-node";

type Library = typeof import("@nats-io/jetstream");

/** Names in NATS. */
export interface NatsNames {
  readonly stream: string;
  /** The first part of all subjects. */
  readonly prefix: string;
}

const TIMEOUT_MS = 10_000;

/**
 * Parses a `nats://` or `tls://` address; the errors do not repeat it, since it may contain a password. Throws a
 * RangeError.
 */
export function connectionOptions(address: string): ConnectionOptions {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || (url.protocol !== "nats:" && url.protocol !== "tls:") || url.hostname === "") {
    throw new RangeError("an address of NATS is nats://host:port or tls://host:port");
  }
  const [user, pass] = [url.username, url.password].map((part) => querystring.unescape(part));
  const credentials = pass ? { user: user ?? "", pass } : user ? { token: user } : {};
  return {
    servers: url.host,
    // After reconnecting, we first read what the stream has; the library would send what it had queued.
    reconnect: false,
    timeout: TIMEOUT_MS,
    ...credentials,
    ...(url.protocol === "tls:" && { tls: {} }),
  };
}

/** A connection to an existing stream. */
export class StreamConnection {
  readonly #names: NatsNames;
  readonly #connection: NatsConnection;
  readonly #client: JetStreamClient;
  readonly #manager: JetStreamManager;

  private constructor(
    names: NatsNames,
    parts: {
      readonly connection: NatsConnection;
      readonly client: JetStreamClient;
      readonly manager: JetStreamManager;
    },
  ) {
    this.#names = names;
    this.#connection = parts.connection;
    this.#client = parts.client;
    this.#manager = parts.manager;
  }

  /** Connects, and creates the stream where it is missing. */
  static async open(options: ConnectionOptions, names: NatsNames): Promise<StreamConnection> {
    // Loaded here, so that services that publish nothing do without them.
    const { connect } = await import("@nats-io/transport-node");
    const library = await import("@nats-io/jetstream");
    const connection = await connect(options);
    try {
      const manager = await library.jetstreamManager(connection, { timeout: TIMEOUT_MS });
      const client = library.jetstream(connection, { timeout: TIMEOUT_MS });
      const opened = new StreamConnection(names, { connection, client, manager });
      await opened.#ensureStream(library);
      return opened;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /** Resolves once the connection is lost or closed. */
  get closed(): Promise<unknown> {
    return this.#connection.closed();
  }

  /** The id of the last message under our subjects; undefined if there is none. */
  async lastMessageId(): Promise<string | undefined> {
    const { stream, prefix } = this.#names;
    const message = await this.#manager.streams.getMessage(stream, { last_by_subj: `${prefix}.>` });
    return message?.header.get("Nats-Msg-Id");
  }

  /** Resolves once the stream has the message. */
  async publish(subject: string, body: string, id: string): Promise<void> {
    await this.#client.publish(subject, body, { msgID: id, expect: { streamName: this.#names.stream } });
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  async #ensureStream(library: Library): Promise<void> {
    const { stream, prefix } = this.#names;
    try {
      await this.#manager.streams.info(stream);
    } catch (error) {
      const isMissing =
        error instanceof library.JetStreamApiError && error.code === library.JetStreamApiCodes.StreamNotFound;
      if (!isMissing) throw error;
      await this.#manager.streams.add({ name: stream, subjects: [`${prefix}.>`] });
    }
  }
}
