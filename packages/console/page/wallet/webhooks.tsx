import { useState } from "preact/hooks";
import { useAnswer } from "../answers.ts";
import { formatCount, formatTime } from "../format.ts";
import { Heading, Missing, Section } from "../parts/elements.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { askWallet, type WalletAnswer } from "../rpc.ts";
import { say } from "../view.ts";
import { ShownOnce } from "./shown-once.tsx";

type Webhook = WalletAnswer<"list_webhooks">["webhooks"][number];
type Act = (webhook: Webhook, what: "enable_webhook" | "remove_webhook" | "replay_dead_letters") => void;

const EVERY_MS = 3000;
const orAll = (texts: readonly string[]) => (texts.length === 0 ? "all" : texts.join(", "));

function columnsWith(act: Act): readonly Column<Webhook>[] {
  return [
    { name: "Address", cell: ({ url, webhook_id }) => <span title={webhook_id}>{url}</span> },
    { name: "Wallets", cell: ({ wallets }) => orAll(wallets) },
    { name: "Events", cell: ({ events }) => orAll(events) },
    { name: "Sent up to", isNumber: true, cell: ({ sequence }) => formatCount(sequence) },
    { name: "Missed", isNumber: true, cell: ({ missed }) => formatCount(missed) },
    {
      name: "State",
      cell: ({ disabled, attempts, next_attempt }) => {
        if (disabled !== "") return <span class="bad">{disabled}</span>;
        if (attempts === 0) return "delivers";
        return <span class="bad">{`failed ${attempts} times, again at ${formatTime(next_attempt)}`}</span>;
      },
    },
    {
      name: "Do",
      cell: (webhook) => (
        <span class="row">
          {webhook.disabled !== "" && (
            <button type="button" class="plain" onClick={() => act(webhook, "enable_webhook")}>
              Enable<span class="unseen"> {webhook.url}</span>
            </button>
          )}
          <button type="button" class="plain" onClick={() => act(webhook, "replay_dead_letters")}>
            Send what failed<span class="unseen"> to {webhook.url}</span>
          </button>
          <button type="button" class="plain" onClick={() => act(webhook, "remove_webhook")}>
            Remove<span class="unseen"> {webhook.url}</span>
          </button>
        </span>
      ),
    },
  ];
}

function NewWebhook({ onMade }: { readonly onMade: (secret: string) => void }) {
  const [url, setUrl] = useState("");
  const [fault, setFault] = useState("");
  const make = async (event: Event) => {
    event.preventDefault();
    try {
      const { secret } = await askWallet("", "add_webhook", { url: url.trim() });
      setUrl("");
      setFault("");
      onMade(secret);
    } catch (error) {
      setFault((error as Error).message);
    }
  };
  return (
    <form class="fields" onSubmit={make}>
      <label>
        Address that is sent all events of all wallets
        <input
          class="code"
          required
          type="url"
          value={url}
          autocomplete="off"
          onInput={(event) => setUrl(event.currentTarget.value)}
        />
      </label>
      <div class="row">
        <button type="submit">Add the webhook</button>
        <span class="failure" role="status">
          {fault}
        </span>
      </div>
    </form>
  );
}

/** Deliveries of events: how far each webhook has come, and what becomes of those that fail. */
export function WebhooksPage() {
  const [times, setTimes] = useState(0);
  const [secret, setSecret] = useState<string>();
  const [fault, setFault] = useState("");
  const { answer, failure } = useAnswer((signal) => askWallet("", "list_webhooks", {}, { signal }), {
    of: [times],
    everyMs: EVERY_MS,
  });
  const act: Act = async ({ webhook_id, url }, what) => {
    if (what === "remove_webhook" && !confirm(`Remove the webhook to ${url}, and what it has not delivered?`))
      return;
    try {
      const done = await askWallet("", what, { webhook_id });
      if ("delivered" in done) say(`${done.delivered} events delivered, ${done.failed} failed again`);
      setFault("");
    } catch (error) {
      setFault((error as Error).message);
    }
    setTimes(times + 1);
  };
  const showSecret = (newSecret: string) => {
    setSecret(newSecret);
    setTimes(times + 1);
  };
  return (
    <>
      <Heading title="Webhooks">Webhooks</Heading>
      {secret !== undefined && (
        <ShownOnce
          title="The secret of the new webhook"
          note="It is shown this once: the receiver checks with it who has signed an event."
          secret={secret}
          onDone={() => setSecret(undefined)}
        />
      )}
      {answer === undefined ? (
        <Missing failure={failure} />
      ) : (
        <>
          <Section title="Deliveries">
            <Table
              caption="Webhooks"
              columns={columnsWith(act)}
              rows={answer.webhooks}
              keyOf={({ webhook_id }) => webhook_id}
              empty="There are no webhooks."
            />
            <p class="failure" role="status">
              {fault}
            </p>
          </Section>
          <Section title="A new webhook">
            <NewWebhook onMade={showSecret} />
          </Section>
        </>
      )}
    </>
  );
}
