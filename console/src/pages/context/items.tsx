import { useSignal } from "@preact/signals";
import { sessionHref } from "../../state/router.ts";
import { count, formatNumber } from "../../ui/format.ts";
import { MessageBody } from "../../ui/message-body.tsx";
import { findSeq } from "./parts.ts";
import type { ContextView, TraceItem } from "./queries.ts";

const kindNames: Readonly<Record<string, string>> = {
  summary: "Summary",
  message: "Message",
  recall: "Recalled message",
  memory: "Memory",
  note: "Note",
};
const shownFirst = 200;

/** Why each piece is in the window, and what was left out. */
export function TraceList({ session, items }: { session: string; items: readonly TraceItem[] }) {
  const shown = useSignal(shownFirst);
  return (
    <>
      <ol class="plain trace">
        {items.slice(0, shown.value).map((item, index) => (
          <li key={`${item.kind} ${item.id} ${index}`} class={`trace-item kind-${item.kind}`}>
            <span class="tag">{kindNames[item.kind] ?? item.kind}</span>
            <TraceName session={session} item={item} />
            <span class="trace-why">{item.why}</span>
            <span class="trace-tokens">{formatNumber(item.tokens)}</span>
          </li>
        ))}
      </ol>
      {items.length > shown.value && (
        <button type="button" class="button" onClick={() => (shown.value += 500)}>
          Show {count(Math.min(500, items.length - shown.value), "more item")} of{" "}
          {formatNumber(items.length - shown.value)}
        </button>
      )}
    </>
  );
}

function TraceName({ session, item }: { session: string; item: TraceItem }) {
  const seq = findSeq(item);
  const href =
    seq !== undefined
      ? sessionHref(session, { at: String(seq) })
      : item.id.startsWith("sum_")
        ? sessionHref(session, { summary: item.id })
        : item.id.startsWith("mem_")
          ? `/memory?id=${item.id}`
          : undefined;
  return href === undefined ? (
    <span class="mono">{item.id}</span>
  ) : (
    <a class="mono" href={href}>
      {item.id}
    </a>
  );
}

/** Exactly what is sent, message by message. */
export function SentMessages({ view }: { view: ContextView }) {
  const shown = useSignal(30);
  const { messages, systemPromptAddition } = view;
  const from = Math.max(0, messages.length - shown.value);
  return (
    <div class="sent">
      {systemPromptAddition !== undefined && (
        <article class="entry role-system">
          <header class="entry-head">
            <strong>Addition to the system prompt</strong>
          </header>
          <pre tabIndex={0}>{systemPromptAddition}</pre>
        </article>
      )}
      {from > 0 && (
        <button type="button" class="button" onClick={() => (shown.value += 100)}>
          Show {count(Math.min(100, from), "earlier message")} of {formatNumber(from)}
        </button>
      )}
      {messages.slice(from).map((message, index) => (
        <article key={from + index} class={`entry role-${message.role}`}>
          <header class="entry-head">
            <strong>
              {from + index + 1}. {message.role}
            </strong>
          </header>
          <MessageBody message={message as Parameters<typeof MessageBody>[0]["message"]} />
        </article>
      ))}
    </div>
  );
}
