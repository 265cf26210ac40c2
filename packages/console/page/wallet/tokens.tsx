import { useState } from "preact/hooks";
import { useAnswer } from "../answers.ts";
import { formatTime, parseCoins } from "../format.ts";
import { Coins, Heading, Missing, Section } from "../parts/elements.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { askWallet, type WalletAnswer } from "../rpc.ts";
import { say } from "../view.ts";
import { ShownOnce } from "./shown-once.tsx";

type Token = WalletAnswer<"list_tokens">["tokens"][number];

const EVERY_MS = 5000;
const SECONDS_PER_DAY = 86_400;
const scopes = ["read", "receive", "spend", "secrets", "admin"] as const;

const timeOr = (time: number, otherwise: string) => (time === 0 ? otherwise : formatTime(time));

const isEnded = ({ expires, revoked }: Token) => revoked > 0 || (expires > 0 && expires * 1000 < Date.now());

function Cap({ cap, spent }: { readonly cap: number | bigint | undefined; readonly spent: number | bigint }) {
  if (cap === undefined) return <span class="muted">no cap</span>;
  return (
    <>
      <Coins value={spent} /> of <Coins value={cap} />
    </>
  );
}

function columnsWith(revoke: (token: Token) => void): readonly Column<Token>[] {
  return [
    { name: "Name", cell: ({ name, token_id }) => <span title={token_id}>{name || token_id}</span> },
    { name: "Scopes", cell: ({ scopes: allowed }) => allowed.join(", ") },
    { name: "Wallets", cell: ({ wallets }) => <code>{wallets.join(", ")}</code> },
    { name: "Created", cell: ({ created }) => formatTime(created) },
    { name: "Ends", cell: ({ expires }) => timeOr(expires, "never") },
    { name: "Last used", cell: ({ last_used }) => timeOr(last_used, "never") },
    {
      name: "An hour",
      isNumber: true,
      cell: ({ cap_hour, spent_hour }) => <Cap cap={cap_hour} spent={spent_hour} />,
    },
    {
      name: "A day",
      isNumber: true,
      cell: ({ cap_day, spent_day }) => <Cap cap={cap_day} spent={spent_day} />,
    },
    {
      name: "State",
      cell: (token) =>
        isEnded(token) ? (
          <span class="muted">{token.revoked > 0 ? "revoked" : "ended"}</span>
        ) : (
          <button type="button" class="plain" onClick={() => revoke(token)}>
            Revoke<span class="unseen"> {token.name || token.token_id}</span>
          </button>
        ),
    },
  ];
}

/** Throws what is wrong with a cap, in words; undefined for none. */
function capOf(coins: string): bigint | undefined {
  if (coins.trim() === "") return undefined;
  const amount = parseCoins(coins.trim());
  if (amount === undefined)
    throw new Error("A cap is an amount: coins have digits, and up to twelve decimals.");
  return amount;
}

type Fields = Readonly<Record<"name" | "wallets" | "days" | "hour" | "day", string>>;
const noFields: Fields = { name: "", wallets: "*", days: "30", hour: "", day: "" };
const labels: Readonly<Record<keyof Fields, string>> = {
  name: "Name of a new token",
  wallets: "Wallets, with * for any characters",
  days: "Days it is valid, 0 for ever",
  hour: "Cap an hour in coins, none if empty",
  day: "Cap a day in coins, none if empty",
};

async function createToken({ name, wallets, days, hour, day }: Fields, allowed: readonly string[]) {
  if (!/^\d+$/.test(days.trim())) throw new Error("Days are a whole number.");
  const patterns = wallets.split(",").flatMap((pattern) => (pattern.trim() === "" ? [] : [pattern.trim()]));
  const { token } = await askWallet("", "create_token", {
    name,
    scopes: allowed,
    wallets: patterns,
    valid_for: Number(days) * SECONDS_PER_DAY,
    cap_hour: capOf(hour),
    cap_day: capOf(day),
  });
  return token;
}

function NewToken({ onMade }: { readonly onMade: (token: string) => void }) {
  const [fields, setFields] = useState(noFields);
  const [allowed, setAllowed] = useState<readonly string[]>(["read"]);
  const [fault, setFault] = useState("");
  const make = async (event: Event) => {
    event.preventDefault();
    try {
      const token = await createToken(fields, allowed);
      setFields(noFields);
      setFault("");
      onMade(token);
    } catch (error) {
      setFault((error as Error).message);
    }
  };
  const toggle = (scope: string, isOn: boolean) =>
    setAllowed(scopes.filter((each) => (each === scope ? isOn : allowed.includes(each))));
  return (
    <form class="fields" onSubmit={make}>
      {(Object.keys(labels) as (keyof Fields)[]).map((field) => (
        <label key={field}>
          {labels[field]}
          <input
            value={fields[field]}
            autocomplete="off"
            onInput={(event) => setFields({ ...fields, [field]: event.currentTarget.value })}
          />
        </label>
      ))}
      <fieldset class="row">
        <legend>It allows</legend>
        {scopes.map((scope) => (
          <label key={scope} class="choice">
            <input
              type="checkbox"
              checked={allowed.includes(scope)}
              onChange={(event) => toggle(scope, event.currentTarget.checked)}
            />
            {scope}
          </label>
        ))}
      </fieldset>
      <div class="row">
        <button type="submit">Create the token</button>
        <span class="failure" role="status">
          {fault}
        </span>
      </div>
    </form>
  );
}

/** Tokens of the service: those there are, making one, ending one. */
export function TokensPage() {
  const [times, setTimes] = useState(0);
  const [newToken, setNewToken] = useState<string>();
  const [fault, setFault] = useState("");
  const { answer, failure } = useAnswer((signal) => askWallet("", "list_tokens", {}, { signal }), {
    of: [times],
    everyMs: EVERY_MS,
  });
  const revoke = async ({ token_id, name }: Token) => {
    if (!confirm(`Revoke ${name || token_id}? It ends for good.`)) return;
    try {
      await askWallet("", "revoke_token", { token_id });
      say(`${name || token_id} is revoked`);
      setFault("");
    } catch (error) {
      setFault((error as Error).message);
    }
    setTimes(times + 1);
  };
  const done = (token: string) => {
    setNewToken(token);
    setTimes(times + 1);
  };
  return (
    <>
      <Heading title="Tokens">Tokens</Heading>
      {newToken !== undefined && (
        <ShownOnce
          title="The new token"
          note="It is shown this once: sent as Authorization: Bearer TOKEN."
          secret={newToken}
          onDone={() => setNewToken(undefined)}
        />
      )}
      {answer === undefined ? (
        <Missing failure={failure} />
      ) : (
        <>
          <Section title="Tokens" aside="also those that ended in the last 30 days">
            <Table
              caption="Tokens"
              columns={columnsWith(revoke)}
              rows={answer.tokens}
              keyOf={({ token_id }) => token_id}
              empty="There are no tokens."
            />
            <p class="failure" role="status">
              {fault}
            </p>
          </Section>
          <Section title="A new token">
            <NewToken onMade={done} />
          </Section>
        </>
      )}
    </>
  );
}
