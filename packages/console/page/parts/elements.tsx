/** Small pieces that every view is made of. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { formatCoins, shorten } from "../format.ts";
import { linkTo } from "../route.ts";

/** A view's heading; it takes the focus when the view opens, so that screen readers say where one is. */
export function Heading({
  children,
  title,
}: {
  readonly children: ComponentChildren;
  readonly title: string;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} – Anulo`;
    if (document.body.dataset.hasMoved === "yes") heading.current?.focus();
    document.body.dataset.hasMoved = "yes";
  }, [title]);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
}

type SectionProps = {
  readonly title: string;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
};

export function Section({ title, aside, children }: SectionProps) {
  return (
    <section>
      <header class="section">
        <h2>{title}</h2>
        {aside !== undefined && <p class="aside">{aside}</p>}
      </header>
      {children}
    </section>
  );
}

/** Names and values; a value that is undefined is left out. */
export function Facts({ of }: { readonly of: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {of
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** One large figure with what it is. */
export function Figure({
  name,
  value,
  note,
}: {
  readonly name: string;
  readonly value: ComponentChildren;
  readonly note?: ComponentChildren;
}) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd>
        <span class="value">{value}</span>
        {note !== undefined && <span class="note">{note}</span>}
      </dd>
    </div>
  );
}

/** A hash as far as there is room, whole for those who copy or listen. */
export function Hash({
  value,
  to,
  whole = false,
}: {
  readonly value: string;
  readonly to?: "block" | "tx";
  readonly whole?: boolean;
}) {
  const text = whole ? value : shorten(value);
  if (value === "") return <span class="muted">–</span>;
  if (to === undefined)
    return (
      <code title={value} class={whole ? "whole" : undefined}>
        {text}
      </code>
    );
  return (
    <a href={linkTo(to, value)} title={value}>
      <code>{text}</code>
    </a>
  );
}

/** Coins: the whole part and two decimals in full colour, what is smaller lighter. */
export function Coins({ value }: { readonly value: number | bigint }) {
  const text = formatCoins(value);
  const end = text.indexOf(".") + 3;
  return (
    <span class="coins">
      {text.slice(0, end)}
      <span class="minor">{text.slice(end)}</span>
    </span>
  );
}

/** What a view shows instead of an answer it does not have. */
export function Missing({ failure }: { readonly failure: string | undefined }) {
  if (failure === undefined) return <p class="muted">Loading…</p>;
  return (
    <p class="failure" role="alert">
      {failure}
    </p>
  );
}
