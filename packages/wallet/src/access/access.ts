/** Access to a service by tokens: what each token may do, and what was done with it. */
import type { EventLog } from "@anulo/events";
import type { Logger } from "@anulo/rpc";
import { type AccessFolder, openAccessFolder, TokenFile } from "../file/access-folder.ts";
import type { Allowance } from "../intents/allowance.ts";
import { WalletRefusal } from "../refusal.ts";
import type { Runtime } from "../runtime.ts";
import { AuditLog } from "./audit-log.ts";
import { capped, SpendingBook } from "./spending-book.ts";
import { readToken } from "./token.ts";
import { type LiveToken, TokenBook } from "./token-book.ts";

export type AccessOptions = {
  /** Folder of the tokens and of what they have spent; one service at a time uses it. */
  readonly folder: string;
  /** If no token is valid, a token that may do everything is created and written to this file. */
  readonly firstTokenFile?: string | undefined;
  /** Whether tokens are the only way to authenticate, so that a service without one could not be used. */
  readonly isOnlyWay?: boolean;
};

type Parts = Pick<Runtime, "clock" | "random"> & {
  readonly events: EventLog | undefined;
  /** Must write events of severity INFO by default: this is the category `global`. */
  readonly log: Logger;
};

const refuse = (why: string) => new WalletRefusal("UNKNOWN_ERROR", why);

/** Opens the tokens of a service. Throws `WalletRefusal`. */
export async function openAccess(options: AccessOptions, parts: Parts): Promise<Access> {
  const folder = await openAccessFolder(options.folder);
  try {
    const access = new Access(folder, parts);
    const { firstTokenFile } = options;
    const file = firstTokenFile === undefined ? undefined : new TokenFile(firstTokenFile);
    if (access.tokens.isEmpty) await makeFirst(access, file, options);
    else await finishFirst(access, file);
    return access;
  } catch (error) {
    await folder.close();
    throw error instanceof WalletRefusal
      ? error
      : refuse(`Tokens can't be read: ${(error as Error).message}`);
  }
}

/** Publishes the first token if the service was killed after storing it and before its file had its name. */
async function finishFirst({ tokens }: Access, file: TokenFile | undefined): Promise<void> {
  const id = readToken((await file?.readPrepared()) ?? "")?.id;
  if (id !== undefined && tokens.of(id) !== undefined) await file!.publish();
}

async function makeFirst(
  { tokens }: Access,
  file: TokenFile | undefined,
  { isOnlyWay }: AccessOptions,
): Promise<void> {
  if (file === undefined) {
    if (isOnlyWay) throw refuse("There is no login and no token: --first-token-file FILE makes one");
    return;
  }
  await tokens.create(
    {
      name: "first",
      scopes: ["read", "receive", "spend", "secrets", "admin"],
      wallets: ["*"],
      validSeconds: 0,
      capHour: undefined,
      capDay: undefined,
    },
    undefined,
    (text) => file.prepare(text),
  );
  await file.publish();
}

export class Access {
  readonly tokens: TokenBook;
  readonly spending: SpendingBook;
  readonly #audit: AuditLog;
  readonly #folder: AccessFolder;

  /** Closing this closes the folder. Throws if the folder's content is invalid. */
  constructor(folder: AccessFolder, { clock: now, random, events, log }: Parts) {
    this.#folder = folder;
    this.#audit = new AuditLog({ events, log, now });
    const keep = (text: string) => folder.keepTokens(text);
    this.tokens = new TokenBook(folder.tokens, { keep, now, random, audit: this.#audit });
    this.spending = new SpendingBook(folder.spent, now);
  }

  /** What a token may spend of a wallet. */
  allowanceOf(token: LiveToken, wallet: string): Allowance {
    const checkValid = () => {
      if (!token.isValid) throw capped("be used any more");
    };
    const audit = (amount: bigint | undefined, txHashes: readonly string[]) =>
      this.#audit.spent(token.id, wallet, { amount, txHashes });
    return {
      reserve: async ({ key, amount }) => {
        checkValid();
        if (!token.isCapped)
          return { settle: async (txHashes) => audit(amount, txHashes), release: async () => undefined };
        const spend = { key: `${wallet}/${key}`, amount };
        const reservation = await this.spending.reserve(token.record, spend);
        return {
          settle: async (txHashes) => {
            await reservation.settle(txHashes);
            audit(amount, txHashes);
          },
          release: () => reservation.release(),
        };
      },
      passOn: async (txHashes) => {
        checkValid();
        if (token.isCapped && !this.spending.hasCounted(token.id, txHashes))
          throw capped("send what was not counted for it: it has a cap");
        audit(undefined, txHashes);
      },
    };
  }

  async close(): Promise<void> {
    await this.tokens.whenIdle();
    await this.spending.whenIdle();
    await this.#audit.close();
    await this.#folder.close();
  }
}
