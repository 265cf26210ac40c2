import { useEffect, useRef, useState } from "preact/hooks";
import { parseCoins } from "../format.ts";
import { Coins, Facts, Hash, Section } from "../parts/elements.tsx";
import { linkTo } from "../route.ts";
import { askWallet, type WalletAnswer } from "../rpc.ts";
import { forgetOrder, keepOrder, type Order, sentOrder } from "./sent-orders.ts";

const priorities = ["default", "low", "normal", "high"] as const;
const KEY_BYTES = 16;

function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return `console-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** Throws what is wrong with it, in words. */
async function orderOf(wallet: string, address: string, coins: string): Promise<Omit<Order, "priority">> {
  const amount = parseCoins(coins);
  if (amount === undefined)
    throw new Error("This is no amount: coins have digits, and up to twelve decimals.");
  if (amount === 0n) throw new Error("Nothing is to be paid.");
  const { valid } = await askWallet(wallet, "validate_address", { address });
  if (!valid) throw new Error("This is no address of the wallet's network.");
  return { address, amount, key: newKey() };
}

type FormProps = { readonly wallet: string; readonly onOrder: (order: Order) => void };

function OrderForm({ wallet, onOrder }: FormProps) {
  const [address, setAddress] = useState("");
  const [coins, setCoins] = useState("");
  const [priority, setPriority] = useState(0);
  const [fault, setFault] = useState("");
  const check = async (event: Event) => {
    event.preventDefault();
    try {
      onOrder({ ...(await orderOf(wallet, address.trim(), coins.trim())), priority });
    } catch (error) {
      setFault((error as Error).message);
    }
  };
  return (
    <form class="fields" onSubmit={check}>
      <label>
        Address
        <input
          class="code"
          required
          spellcheck={false}
          autocomplete="off"
          value={address}
          onInput={(event) => setAddress(event.currentTarget.value)}
        />
      </label>
      <label>
        Amount in coins
        <input
          class="code"
          required
          inputMode="decimal"
          autocomplete="off"
          value={coins}
          onInput={(event) => setCoins(event.currentTarget.value)}
        />
      </label>
      <label>
        Fee
        <select value={priority} onChange={(event) => setPriority(Number(event.currentTarget.value))}>
          {priorities.map((name, value) => (
            <option key={name} value={value}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <div class="row">
        <button type="submit">Review</button>
        <span class="failure" role="status">
          {fault}
        </span>
      </div>
    </form>
  );
}

type ConfirmProps = {
  readonly wallet: string;
  readonly order: Order;
  /** Whether it was sent before, and its answer was lost. */
  readonly isSent: boolean;
  readonly onPaid: (paid: WalletAnswer<"transfer">) => void;
  readonly onCancel: () => void;
};

/** Shows what is about to be paid. A call that was not answered can be repeated: with the same key it pays once. */
function Confirm({ wallet, order, isSent, onPaid, onCancel }: ConfirmProps) {
  const [state, setState] = useState<"asked" | "paying" | { readonly fault: string }>(
    isSent ? { fault: "This was sent before, and not answered. Trying again pays once." } : "asked",
  );
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const pay = async () => {
    setState("paying");
    keepOrder(wallet, order);
    const { address, amount, priority, key } = order;
    try {
      const params = { destinations: [{ address, amount }], priority, idempotency_key: key };
      onPaid(await askWallet(wallet, "transfer", params));
    } catch (error) {
      setState({ fault: (error as Error).message });
    }
  };
  return (
    <div class="box">
      <h3 ref={heading} tabIndex={-1}>
        Pay this?
      </h3>
      <Facts
        of={[
          ["Amount", <Coins value={order.amount} />],
          ["To", <Hash value={order.address} whole />],
          ["Fee", priorities[order.priority]],
          ["Key", <code>{order.key}</code>],
        ]}
      />
      <div class="row">
        <button type="button" class="main" disabled={state === "paying"} onClick={pay}>
          {typeof state === "object" ? "Try again" : "Pay"}
        </button>
        <button type="button" disabled={state === "paying"} onClick={onCancel}>
          {typeof state === "object" ? "Forget it" : "Cancel"}
        </button>
        <span class="failure" role="status">
          {typeof state === "object" && state.fault}
        </span>
      </div>
    </div>
  );
}

/** Pays an address, after a second look. */
export function PayPart({ wallet }: { readonly wallet: string }) {
  const [sent] = useState(() => sentOrder(wallet));
  const [order, setOrder] = useState(sent);
  const [paid, setPaid] = useState<WalletAnswer<"transfer">>();
  const forget = () => {
    forgetOrder(wallet);
    setOrder(undefined);
  };
  const done = (answer: WalletAnswer<"transfer">) => {
    setPaid(answer);
    forget();
  };
  return (
    <Section title="Pay">
      {paid !== undefined && (
        <p role="status">
          Paid <Coins value={paid.amount} /> with a fee of <Coins value={paid.fee} /> in transaction{" "}
          <Hash value={paid.tx_hash} />. <a href={linkTo("wallet", wallet, "payments")}>What became of it</a>
        </p>
      )}
      {order === undefined ? (
        <OrderForm wallet={wallet} onOrder={setOrder} />
      ) : (
        <Confirm wallet={wallet} order={order} isSent={order === sent} onPaid={done} onCancel={forget} />
      )}
    </Section>
  );
}
