import type { ComponentType } from "preact";
import { useState } from "preact/hooks";
import { useAnswer } from "../answers.ts";
import { formatCount, formatSpan } from "../format.ts";
import { Coins, Figure, Heading, Missing } from "../parts/elements.tsx";
import { linkTo } from "../route.ts";
import { askWallet, CallFailed } from "../rpc.ts";
import { AddressesPart } from "./addresses.tsx";
import { IntentsPart } from "./intents.tsx";
import { PayPart } from "./pay.tsx";
import { TransfersPart } from "./transfers.tsx";

const EVERY_MS = 3000;
/** What wallets with a password answer until they are given it. Source: wallet_rpc_server_error_codes.h NOT_OPEN. */
const NOT_OPEN = -13;
const SECONDS_PER_BLOCK = 120;

type Part = {
  readonly path: string;
  readonly name: string;
  readonly Shown: ComponentType<{ readonly wallet: string }>;
};

const parts: readonly Part[] = [
  { path: "", name: "Transfers", Shown: TransfersPart },
  { path: "addresses", name: "Addresses", Shown: AddressesPart },
  { path: "pay", name: "Pay", Shown: PayPart },
  { path: "payments", name: "Payments by key", Shown: IntentsPart },
];

async function stateOf(wallet: string, signal: AbortSignal) {
  try {
    const [balance, height] = await Promise.all([
      askWallet(wallet, "get_balance", { all_accounts: true }, { signal }),
      askWallet(wallet, "get_height", {}, { signal }),
    ]);
    return { balance, height };
  } catch (error) {
    if (error instanceof CallFailed && error.code === NOT_OPEN) return "closed";
    throw error;
  }
}

/** Asks for the password of a closed wallet; it goes to the service and is forgotten here. */
function OpenForm({ wallet, onOpen }: { readonly wallet: string; readonly onOpen: () => void }) {
  const [password, setPassword] = useState("");
  const [fault, setFault] = useState("");
  const open = async (event: Event) => {
    event.preventDefault();
    try {
      await askWallet(wallet, "open_wallet", { filename: wallet, password });
      onOpen();
    } catch (error) {
      setFault((error as Error).message);
    }
    setPassword("");
  };
  return (
    <form class="fields" onSubmit={open}>
      <p>This wallet is closed.</p>
      <label>
        Password
        <input
          type="password"
          value={password}
          onInput={(event) => setPassword(event.currentTarget.value)}
          autocomplete="off"
        />
      </label>
      <div class="row">
        <button type="submit">Open</button>
        <span class="failure" role="status">
          {fault}
        </span>
      </div>
    </form>
  );
}

function Figures({ balance, height }: Exclude<Awaited<ReturnType<typeof stateOf>>, "closed">) {
  const target = height.scan_target_height;
  const waits = balance.blocks_to_unlock;
  return (
    <dl class="figures">
      <Figure name="Balance" value={<Coins value={balance.balance} />} />
      <Figure
        name="Can be spent"
        value={<Coins value={balance.unlocked_balance} />}
        note={
          waits > 0
            ? `the rest in ${formatCount(waits)} blocks, ${formatSpan(waits * SECONDS_PER_BLOCK)}`
            : ""
        }
      />
      <Figure
        name="Scanned blocks"
        value={formatCount(height.height)}
        note={
          target === undefined
            ? ""
            : `of ${formatCount(target)}, ${formatSpan(height.scan_seconds_left ?? 0)} left`
        }
      />
    </dl>
  );
}

function PartLinks({ wallet, open }: { readonly wallet: string; readonly open: string }) {
  return (
    <nav class="parts" aria-label={`Of ${wallet}`}>
      {parts.map(({ path, name }) => (
        <a
          key={path}
          class="part"
          href={linkTo("wallet", wallet, ...(path === "" ? [] : [path]))}
          aria-current={path === open ? "page" : undefined}
        >
          {name}
        </a>
      ))}
    </nav>
  );
}

/** One wallet: its balance, and one of its parts. */
export function WalletPage({ parts: [wallet = "", open = ""] }: { readonly parts: readonly string[] }) {
  const [times, setTimes] = useState(0);
  const { answer, failure } = useAnswer((signal) => stateOf(wallet, signal), {
    of: [wallet, times],
    everyMs: EVERY_MS,
  });
  const part = parts.find(({ path }) => path === open) ?? parts[0]!;
  const heading = <Heading title={`${wallet}: ${part.name}`}>{wallet}</Heading>;
  if (answer === undefined || answer === "closed") {
    return (
      <>
        {heading}
        {answer === undefined ? (
          <Missing failure={failure} />
        ) : (
          <OpenForm wallet={wallet} onOpen={() => setTimes(times + 1)} />
        )}
      </>
    );
  }
  return (
    <>
      {heading}
      {failure !== undefined && <Missing failure={failure} />}
      <Figures {...answer} />
      <PartLinks wallet={wallet} open={part.path} />
      <part.Shown wallet={wallet} />
    </>
  );
}
