import { useEffect, useRef } from "preact/hooks";

type ShownOnceProps = {
  readonly title: string;
  readonly secret: string;
  readonly note: string;
  readonly onDone: () => void;
};

/** A secret that the service shows once: it is gone from the page when the box is closed or its view is left. */
export function ShownOnce({ title, secret, note, onDone }: ShownOnceProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <div class="box">
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      <p>{note}</p>
      <p>
        <code class="whole">{secret}</code>
      </p>
      <div class="row">
        <button type="button" onClick={() => navigator.clipboard?.writeText(secret)}>
          Copy
        </button>
        <button type="button" class="main" onClick={onDone}>
          I have kept it
        </button>
      </div>
    </div>
  );
}
